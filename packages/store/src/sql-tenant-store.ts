import type {
  ApiKeyRow,
  DepartedReceipt,
  DepartureWindow,
  ExportRow,
  PurgeRow,
  RoomPlace,
  RoomReceipt,
  RoomWindow,
  TenantRow,
  TenantStore,
} from '@tallystick/callers';
import { all, run, type Work } from './database-work.ts';
import { pages } from './pages.ts';
import type { Queries } from './queries.ts';
import type { RememberedRows } from './remembered-rows.ts';
import type { SqlDatabase } from './sql-database.ts';

const PAGE = 200;
const PURGE_LIMIT = 1_000;
const START: RoomPlace = { issuedAt: -1, id: '' };

/** A {@link TenantStore} on a SQL database. */
export class SqlTenantStore implements TenantStore {
  readonly #database: SqlDatabase;
  readonly #queries: Queries;
  readonly #keys: RememberedRows;

  /** @param keys rows of API keys, some of which are changed here */
  constructor(database: SqlDatabase, keys: RememberedRows) {
    this.#database = database;
    this.#keys = keys;
    this.#queries = database.queries;
  }

  async put(row: TenantRow): Promise<void> {
    await this.#database.transaction(() => run(this.#queries.insertTenant, row));
  }

  async get(id: string): Promise<TenantRow | null> {
    const [row] = await this.#database.read(all(this.#queries.getTenant, { id }));
    return row ?? null;
  }

  list(): AsyncIterable<TenantRow> {
    return pages(PAGE, (last: TenantRow | undefined) => {
      const { createdAt, id } = last ?? { createdAt: -1, id: '' };
      return this.#database.read(all(this.#queries.pageOfTenants, { createdAt, id, limit: PAGE }));
    });
  }

  putKey(tenant: string, key: ApiKeyRow): ReturnType<TenantStore['putKey']> {
    return this.#database.transaction(() => putKey(this.#queries, tenant, key));
  }

  async ofKey(keyId: string): Promise<string | null> {
    const [row] = await this.#database.read(all(this.#queries.tenantOfKey, { keyId }));
    return row?.tenant ?? null;
  }

  async keysOf(tenant: string): Promise<string[]> {
    const rows = await this.#database.read(all(this.#queries.keysOfTenant, { tenant }));
    return rows.map(({ id }) => id);
  }

  revoke(id: string, at: number): ReturnType<TenantStore['revoke']> {
    return this.#keys.after(this.#database.transaction(() => revoke(this.#queries, id, at)));
  }

  room(
    tenant: string,
    { from, to, firstOf }: RoomWindow,
    after: RoomPlace | null,
    limit: number,
  ): Promise<RoomReceipt[]> {
    const { issuedAt, id } = after ?? START;
    const first = { from: Math.max(from, issuedAt), firstOf: JSON.stringify(firstOf) };
    const values = { tenant, ...first, to, issuedAt, id, limit };
    return this.#database.read(all(this.#queries.roomReceipts, values));
  }

  departed(
    tenant: string,
    { profiles, from, to }: DepartureWindow,
    after: RoomPlace | null,
    limit: number,
  ): Promise<DepartedReceipt[]> {
    const { issuedAt, id } = after ?? START;
    const among = JSON.stringify(Object.fromEntries(profiles.map((profile) => [profile, 1])));
    const values = { tenant, among, from: Math.max(from, issuedAt), to, issuedAt, id, limit };
    return this.#database.read(all(this.#queries.departedReceipts, values)) as Promise<DepartedReceipt[]>;
  }

  async newestPurge(tenant: string): Promise<PurgeRow | null> {
    const [row] = await this.#database.read(all(this.#queries.newestRoomPurge, { tenant }));
    return row ?? null;
  }

  putPurge(tenant: string, row: PurgeRow, sweptTo: number): Promise<'stored' | 'stale'> {
    return this.#database.transaction(() => putPurge(this.#queries, { tenant, ...row, sweptTo }));
  }

  async markSwept(tenant: string, sweptTo: number): Promise<void> {
    await this.#database.transaction(() => run(this.#queries.markSwept, { tenant, sweptTo }));
  }

  listPurges(tenant: string): AsyncIterable<PurgeRow> {
    return pages(PAGE, (last: PurgeRow | undefined) => {
      const after = last?.sequence ?? 0;
      return this.#database.read(all(this.#queries.pageOfRoomPurges, { tenant, after, limit: PAGE }));
    });
  }

  async putExport(row: ExportRow, contents: string): Promise<void> {
    await this.#database.transaction(() => run(this.#queries.insertRoomExport, { ...row, contents }));
  }

  async findExport(
    tenant: string,
    etag: string,
    now: number,
  ): Promise<(ExportRow & { readonly contents: string }) | null> {
    const values = { tenant, etag, now };
    const [row] = await this.#database.read(all(this.#queries.heldRoomExport, values));
    return row === undefined || row.contents === null ? null : { ...row, contents: row.contents };
  }

  listExports(tenant: string): AsyncIterable<ExportRow> {
    return pages(PAGE, (last: ExportRow | undefined) => {
      const { createdAt, receiptId } = last ?? { createdAt: -1, receiptId: '' };
      const values = { tenant, createdAt, receiptId, limit: PAGE };
      return this.#database.read(all(this.#queries.pageOfRoomExports, values));
    });
  }

  purgeExports(now: number, before: number, limit = PURGE_LIMIT): Promise<number> {
    return this.#database.transaction(() => purgeExports(this.#queries, { now, before, limit }));
  }
}

/** Locks the row of the tenant, so that a tenant gets no key while it is revoked. */
function* putKey(
  queries: Queries,
  tenant: string,
  key: ApiKeyRow,
): Work<Awaited<ReturnType<TenantStore['putKey']>>> {
  const [row] = yield* all(queries.lockTenant, { id: tenant });
  if (row === undefined) return 'unknown';
  if (row.revokedAt !== null) return 'revoked';
  yield* run(queries.insertApiKey, key);
  yield* run(queries.insertTenantKey, { keyId: key.id, tenant });
  return 'stored';
}

function* revoke(queries: Queries, id: string, at: number): Work<Awaited<ReturnType<TenantStore['revoke']>>> {
  const [row] = yield* all(queries.lockTenant, { id });
  if (row === undefined) return 'unknown';
  yield* run(queries.revokeKeysOfTenant, { tenant: id, at });
  if (row.revokedAt !== null) return 'already_revoked';
  yield* run(queries.revokeTenant, { id, at });
  return 'revoked';
}

function* putPurge(
  queries: Queries,
  row: PurgeRow & { readonly tenant: string; readonly sweptTo: number },
): Work<'stored' | 'stale'> {
  if ((yield* run(queries.insertRoomPurge, row)) === 0) return 'stale';
  yield* run(queries.markSwept, row);
  return 'stored';
}

function* purgeExports(
  queries: Queries,
  values: { now: number; before: number; limit: number },
): Work<number> {
  const emptied = yield* run(queries.emptyRoomExports, values);
  return emptied + (yield* run(queries.deleteRoomExports, values));
}
