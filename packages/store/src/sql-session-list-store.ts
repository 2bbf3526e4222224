import type { ListedSession, SessionListStore, SessionPage } from '@tallystick/receipts';
import { all, run } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';

/** A {@link SessionListStore} on a SQL database. */
export class SqlSessionListStore implements SessionListStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async page({ before, key, ...page }: SessionPage): Promise<ListedSession[]> {
    const { queries, read } = this.#database;
    const values = { ...page, key: key ?? '', beforeAt: before.at, beforeId: before.id };
    const rows = await read(all(queries.pageOfSessions, values));
    return rows.map(({ cost, ...row }) => ({ ...row, cost: BigInt(cost) }));
  }

  purge(now: number, limit: number): Promise<number> {
    return this.#database.transaction(
      () => run(this.#database.queries.purgeSessionList, { now, limit }),
      'relaxed',
    );
  }
}
