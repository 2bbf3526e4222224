import type { ApiKeyRow, ApiKeyStore } from '@tallystick/callers';
import type { ApiKeyQueries } from './api-key-queries.ts';
import { all, run, type Work } from './database-work.ts';
import { pages } from './pages.ts';
import type { SqlDatabase } from './sql-database.ts';

const PAGE = 200;

/** An {@link ApiKeyStore} on a SQL database. */
export class SqlApiKeyStore implements ApiKeyStore {
  readonly #database: SqlDatabase;
  readonly #queries: ApiKeyQueries;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#queries = database.queries;
  }

  async put(row: ApiKeyRow): Promise<void> {
    await this.#database.transaction(run(this.#queries.insertApiKey, row));
  }

  async find(hash: string): Promise<ApiKeyRow | null> {
    const [row] = await this.#database.read(all(this.#queries.apiKeyByHash, { hash }));
    return row ?? null;
  }

  async get(id: string): Promise<ApiKeyRow | null> {
    const [row] = await this.#database.read(all(this.#queries.apiKeyById, { id }));
    return row ?? null;
  }

  revoke(id: string, at: number): ReturnType<ApiKeyStore['revoke']> {
    return this.#database.transaction(revoke(this.#queries, id, at));
  }

  list(): AsyncIterable<ApiKeyRow> {
    return pages(PAGE, (last: ApiKeyRow | undefined) => {
      const { createdAt, id } = last ?? { createdAt: -1, id: '' };
      return this.#database.read(all(this.#queries.pageOfApiKeys, { createdAt, id, limit: PAGE }));
    });
  }
}

function* revoke(
  queries: ApiKeyQueries,
  id: string,
  at: number,
): Work<Awaited<ReturnType<ApiKeyStore['revoke']>>> {
  if ((yield* run(queries.revokeApiKey, { id, at })) === 1) return 'revoked';
  const [row] = yield* all(queries.apiKeyById, { id });
  return row === undefined ? 'unknown' : 'already_revoked';
}
