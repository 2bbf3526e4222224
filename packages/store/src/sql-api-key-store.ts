import type { ApiKeyRow, ApiKeyStore, KeysInUse } from '@tallystick/callers';
import type { ApiKeyQueries } from './api-key-queries.ts';
import { all, run, type Work } from './database-work.ts';
import { pages } from './pages.ts';
import type { RememberedRows } from './remembered-rows.ts';
import type { SqlDatabase } from './sql-database.ts';

const PAGE = 200;

/** An {@link ApiKeyStore} on a SQL database. */
export class SqlApiKeyStore implements ApiKeyStore {
  readonly #database: SqlDatabase;
  readonly #queries: ApiKeyQueries;
  readonly #remembered: RememberedRows;
  readonly inUse: KeysInUse;

  constructor(database: SqlDatabase, remembered: RememberedRows) {
    this.#database = database;
    this.#queries = database.queries;
    this.#remembered = remembered;
    this.inUse = {
      find: (hash) => remembered.of(`hash ${hash}`, () => this.find(hash)),
      get: (id) => remembered.of(`id ${id}`, () => this.get(id)),
      limitsOf: async (did) => {
        const row = await remembered.of(`did ${did}`, async () => ({ limits: await this.limitsOf(did) }));
        return row?.limits ?? null;
      },
    };
  }

  async put(row: ApiKeyRow): Promise<void> {
    await this.#database.transaction(() => run(this.#queries.insertApiKey, row));
  }

  async find(hash: string): Promise<ApiKeyRow | null> {
    const [row] = await this.#database.read(all(this.#queries.apiKeyByHash, { hash }));
    if (row !== undefined) return row;
    const [rotated] = await this.#database.read(all(this.#queries.apiKeyByPreviousHash, { hash }));
    return rotated ?? null;
  }

  async get(id: string): Promise<ApiKeyRow | null> {
    const [row] = await this.#database.read(all(this.#queries.apiKeyById, { id }));
    return row ?? null;
  }

  revoke(id: string, at: number): ReturnType<ApiKeyStore['revoke']> {
    return this.#change(() => revoke(this.#queries, id, at));
  }

  async setRouting(id: string, routing: string | null): Promise<boolean> {
    return (await this.#change(() => run(this.#queries.routeApiKey, { id, routing }))) === 1;
  }

  change(...[id, of]: Parameters<ApiKeyStore['change']>): ReturnType<ApiKeyStore['change']> {
    return this.#change(() => change(this.#queries, id, of));
  }

  async rotate(id: string, hash: string, previousUntil: number): Promise<boolean> {
    const values = { id, hash, previousUntil };
    return (await this.#change(() => run(this.#queries.rotateApiKey, values))) === 1;
  }

  async used(times: ReadonlyMap<string, number>): Promise<void> {
    if (times.size > 0)
      await this.#database.transaction(() => noteUses(this.#queries, [...times].sort(byId)), 'relaxed');
  }

  ofOwner(owner: string, { before, limit }: Parameters<ApiKeyStore['ofOwner']>[1]): Promise<ApiKeyRow[]> {
    const { createdAt, id } = before ?? { createdAt: Number.MAX_SAFE_INTEGER, id: '' };
    return this.#database.read(all(this.#queries.pageOfOwnedKeys, { owner, createdAt, id, limit }));
  }

  async limitsOf(did: string): Promise<string | null> {
    const [row] = await this.#database.read(all(this.#queries.limitsOfDid, { did }));
    return row?.limits ?? null;
  }

  changeLimitsOf(
    ...[did, of]: Parameters<ApiKeyStore['changeLimitsOf']>
  ): ReturnType<ApiKeyStore['changeLimitsOf']> {
    return this.#change(() => changeLimits(this.#queries, did, of));
  }

  #change<T>(work: () => Work<T>): Promise<T> {
    return this.#remembered.after(this.#database.transaction(work));
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

function* change(
  queries: ApiKeyQueries,
  id: string,
  of: Parameters<ApiKeyStore['change']>[1],
): Work<ApiKeyRow | null> {
  const [row] = yield* all(queries.lockApiKey, { id });
  if (row === undefined) return null;
  const changed = { ...row, ...of(row) };
  yield* run(queries.changeApiKey, changed);
  return changed;
}

function* changeLimits(
  queries: ApiKeyQueries,
  did: string,
  of: Parameters<ApiKeyStore['changeLimitsOf']>[1],
): Work<string | null> {
  yield* run(queries.lockLimitsOfDid, { did });
  const [present] = yield* all(queries.limitsOfDid, { did });
  const limits = of(present?.limits ?? null);
  yield* limits === null
    ? run(queries.deleteLimitsOfDid, { did })
    : run(queries.putLimitsOfDid, { did, limits });
  return limits;
}

/** In the order of the ids, so that no two processes wait for each other. */
function* noteUses(queries: ApiKeyQueries, times: readonly (readonly [string, number])[]): Work<void> {
  for (const [id, at] of times) yield* run(queries.noteApiKeyUse, { id, at });
}

function byId([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one < other ? -1 : 1;
}
