import type { KeptStep, SessionStore } from '@tallystick/receipts';
import { all } from './database-work.ts';
import { pages } from './pages.ts';
import type { SqlDatabase } from './sql-database.ts';

/** At most 3 KB each. */
const PAGE = 500;

/** A {@link SessionStore} on a SQL database. */
export class SqlSessionStore implements SessionStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async newest(id: string): ReturnType<SessionStore['newest']> {
    const { queries, read } = this.#database;
    const [found] = await read(all(queries.newestOfSession, { id }));
    return found ?? null;
  }

  async at(id: string, seq: number): Promise<KeptStep | null> {
    const { queries, read } = this.#database;
    const [found] = await read(all(queries.stepOfSession, { id, seq }));
    return found ?? null;
  }

  list(id: string, now: number): ReturnType<SessionStore['list']> {
    const { queries, read } = this.#database;
    return pages(PAGE, (last: { seq: number; body: string } | undefined) =>
      read(all(queries.pageOfSession, { id, after: last?.seq ?? -1, now, limit: PAGE })),
    );
  }
}
