import type { ContentRow, ContentStore } from '@tallystick/inference';
import { all, run, type Work } from './database-work.ts';
import type { Queries } from './queries.ts';
import type { SqlDatabase } from './sql-database.ts';

/** A {@link ContentStore} on a SQL database. */
export class SqlContentStore implements ContentStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  put(rows: readonly ContentRow[]): Promise<void> {
    return this.#database.transaction(() => put(this.#database.queries, rows));
  }

  async find(owner: string, id: string): Promise<ContentRow | null> {
    const [row] = await this.#database.read(all(this.#database.queries.contentOf, { owner, id }));
    return row ?? null;
  }

  async remove(owner: string, id: string): Promise<void> {
    await this.#database.transaction(() => run(this.#database.queries.removeContent, { owner, id }));
  }

  purge(now: number, limit: number): Promise<number> {
    return this.#database.transaction(
      () => run(this.#database.queries.purgeContents, { now, limit }),
      'relaxed',
    );
  }
}

function* put({ insertContent }: Queries, rows: readonly ContentRow[]): Work<void> {
  for (const row of rows) yield* run(insertContent, row);
}
