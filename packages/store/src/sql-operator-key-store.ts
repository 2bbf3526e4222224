import type { OperatorKeyRow, OperatorKeyStore } from '@tallystick/callers';
import { all, run, type Work } from './database-work.ts';
import type { Queries } from './queries.ts';
import type { SqlDatabase } from './sql-database.ts';

/** An {@link OperatorKeyStore} on a SQL database. */
export class SqlOperatorKeyStore implements OperatorKeyStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async put(row: OperatorKeyRow): Promise<void> {
    await this.#database.transaction(() => run(this.#database.queries.insertOperatorKey, row));
  }

  async find(hash: string): Promise<OperatorKeyRow | null> {
    const [row] = await this.#database.read(all(this.#database.queries.operatorKeyByHash, { hash }));
    return row ?? null;
  }

  revoke(id: string, at: number): ReturnType<OperatorKeyStore['revoke']> {
    return this.#database.transaction(() => revoke(this.#database.queries, id, at));
  }

  list(): Promise<OperatorKeyRow[]> {
    return this.#database.read(all(this.#database.queries.allOperatorKeys, {}));
  }
}

function* revoke(
  queries: Queries,
  id: string,
  at: number,
): Work<Awaited<ReturnType<OperatorKeyStore['revoke']>>> {
  if ((yield* run(queries.revokeOperatorKey, { id, at })) === 1) return 'revoked';
  const [row] = yield* all(queries.operatorKeyById, { id });
  return row === undefined ? 'unknown' : 'already_revoked';
}
