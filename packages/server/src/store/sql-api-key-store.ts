import type { ApiKeyRow, ApiKeyStore } from '@tallystick/callers';
import type { Kysely } from 'kysely';
import { pages } from './pages.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';
import { statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

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

export function apiKeyQueries(db: Kysely<Schema>) {
  const keys = db
    .selectFrom('api_keys')

    .select([
      'id',
      'hash',
      'tier',
      'label',
      'created_at as createdAt',
      'revoked_at as revokedAt',
      'expires_at as expiresAt',
    ]);
  return {
    insertApiKey: statement((v: ApiKeyRow) =>
      db.insertInto('api_keys').values({
        id: v.id,
        hash: v.hash,
        tier: v.tier,
        label: v.label,
        created_at: v.createdAt,
        revoked_at: v.revokedAt,
        expires_at: v.expiresAt,
      }),
    ),
    apiKeyByHash: statement((v: { hash: string }) => keys.where('hash', '=', v.hash)),
    apiKeyById: statement((v: { id: string }) => keys.where('id', '=', v.id)),
    revokeApiKey: statement((v: { id: string; at: number }) =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: v.at })
        .where('id', '=', v.id)
        .where('revoked_at', 'is', null),
    ),
    pageOfApiKeys: statement((v: { createdAt: number; id: string; limit: number }) =>
      keys
        .where((key) => key(key.refTuple('created_at', 'id'), '>', key.tuple(v.createdAt, v.id)))
        .orderBy('created_at')
        .orderBy('id')
        .limit(v.limit),
    ),
  };
}

export type ApiKeyQueries = ReturnType<typeof apiKeyQueries>;
