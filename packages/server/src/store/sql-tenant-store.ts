import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ApiKeyRow } from './api-key-store.ts';
import { pages } from './pages.ts';
import type { Queries } from './queries.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';
import { statement } from './statement.ts';
import type {
  DepartedReceipt,
  DepartureWindow,
  ExportRow,
  PurgeRow,
  RoomPlace,
  RoomReceipt,
  RoomWindow,
  TenantRow,
  TenantStore,
} from './tenant-store.ts';
import { all, run, type Work } from './work.ts';

const PAGE = 200;
const PURGE_LIMIT = 1_000;
const START: RoomPlace = { issuedAt: -1, id: '' };

/** A {@link TenantStore} on a SQL database. */
export class SqlTenantStore implements TenantStore {
  readonly #database: SqlDatabase;
  readonly #queries: Queries;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#queries = database.queries;
  }

  async put(row: TenantRow): Promise<void> {
    await this.#database.transaction(run(this.#queries.insertTenant, row));
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
    return this.#database.transaction(putKey(this.#queries, tenant, key));
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
    return this.#database.transaction(revoke(this.#queries, id, at));
  }

  room(
    tenant: string,
    { from, to, asOf }: RoomWindow,
    after: RoomPlace | null,
    limit: number,
  ): Promise<RoomReceipt[]> {
    const { issuedAt, id } = after ?? START;
    const values = { tenant, from: Math.max(from, issuedAt), to, asOf, issuedAt, id, limit };
    return this.#database.read(all(this.#queries.roomReceipts, values));
  }

  departed(
    tenant: string,
    { from, to, keptSeconds }: DepartureWindow,
    after: RoomPlace | null,
    limit: number,
  ): Promise<DepartedReceipt[]> {
    const { issuedAt, id } = after ?? START;
    const values = { tenant, from: Math.max(from, issuedAt), to, ...keptSeconds, issuedAt, id, limit };
    const read = this.#database.read(all(this.#queries.departedReceipts, values));
    return read as Promise<DepartedReceipt[]>;
  }

  async newestPurge(tenant: string): Promise<PurgeRow | null> {
    const [row] = await this.#database.read(all(this.#queries.newestRoomPurge, { tenant }));
    return row ?? null;
  }

  putPurge(tenant: string, row: PurgeRow, sweptTo: number): Promise<'stored' | 'stale'> {
    return this.#database.transaction(putPurge(this.#queries, { tenant, ...row, sweptTo }));
  }

  async markSwept(tenant: string, sweptTo: number): Promise<void> {
    await this.#database.transaction(run(this.#queries.markSwept, { tenant, sweptTo }));
  }

  listPurges(tenant: string): AsyncIterable<PurgeRow> {
    return pages(PAGE, (last: PurgeRow | undefined) => {
      const after = last?.sequence ?? 0;
      return this.#database.read(all(this.#queries.pageOfRoomPurges, { tenant, after, limit: PAGE }));
    });
  }

  async putExport(row: ExportRow, contents: string): Promise<void> {
    await this.#database.transaction(run(this.#queries.insertRoomExport, { ...row, contents }));
  }

  async findExport(
    tenant: string,
    manifestSha256: string,
    now: number,
  ): Promise<(ExportRow & { readonly contents: string }) | null> {
    const values = { tenant, manifestSha256, now };
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
    return this.#database.transaction(purgeExports(this.#queries, { now, before, limit }));
  }
}

/** The row of the tenant is locked, so that none is given a key while it is revoked. */
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

export function tenantQueries(db: Kysely<Schema>, forUpdate: RawBuilder<unknown>) {
  return { ...keyQueries(db, forUpdate), ...receiptQueries(db), ...purgeQueries(db), ...exportQueries(db) };
}

function keyQueries(db: Kysely<Schema>, forUpdate: RawBuilder<unknown>) {
  const tenants = db
    .selectFrom('tenants')
    .select(['id', 'label', 'created_at as createdAt', 'revoked_at as revokedAt', 'swept_to as sweptTo']);
  return {
    insertTenant: statement((v: TenantRow) =>
      db.insertInto('tenants').values({
        id: v.id,
        label: v.label,
        created_at: v.createdAt,
        revoked_at: v.revokedAt,
        swept_to: v.sweptTo,
      }),
    ),
    getTenant: statement((v: { id: string }) => tenants.where('id', '=', v.id)),
    lockTenant: statement((v: { id: string }) => tenants.where('id', '=', v.id).modifyEnd(forUpdate)),
    pageOfTenants: statement((v: { createdAt: number; id: string; limit: number }) =>
      tenants
        .where((tenant) => tenant(tenant.refTuple('created_at', 'id'), '>', tenant.tuple(v.createdAt, v.id)))
        .orderBy('created_at')
        .orderBy('id')
        .limit(v.limit),
    ),
    revokeTenant: statement((v: { id: string; at: number }) =>
      db.updateTable('tenants').set({ revoked_at: v.at }).where('id', '=', v.id),
    ),
    insertTenantKey: statement((v: { keyId: string; tenant: string }) =>
      db.insertInto('tenant_keys').values({ key_id: v.keyId, tenant: v.tenant }),
    ),
    tenantOfKey: statement((v: { keyId: string }) =>
      db.selectFrom('tenant_keys').select('tenant').where('key_id', '=', v.keyId),
    ),
    keysOfTenant: statement((v: { tenant: string }) =>
      db
        .selectFrom('tenant_keys')
        .innerJoin('api_keys', 'api_keys.id', 'tenant_keys.key_id')
        .select('api_keys.id')
        .where('tenant_keys.tenant', '=', v.tenant)
        .where('api_keys.revoked_at', 'is', null)
        .orderBy('api_keys.created_at')
        .orderBy('api_keys.id'),
    ),
    revokeKeysOfTenant: statement((v: { tenant: string; at: number }) =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: v.at })
        .where('revoked_at', 'is', null)
        .where('id', 'in', (query) =>
          query.selectFrom('tenant_keys').select('key_id').where('tenant', '=', v.tenant),
        ),
    ),
  };
}

function receiptQueries(db: Kysely<Schema>) {
  type Window = { tenant: string; from: number; to: number; limit: number } & RoomPlace;
  const kept = sql<number>`(expires_at - issued_at)`;
  const after = (v: RoomPlace) => sql<boolean>`(issued_at, id) > (${v.issuedAt}, ${v.id})`;
  return {
    roomReceipts: statement((v: Window & { asOf: number }) =>
      db
        .selectFrom('receipts')
        .select(['id', 'issued_at as issuedAt', 'expires_at as expiresAt', sql<string>`body`.as('body')])
        .where('tenant', '=', v.tenant)
        .where('issued_at', '>=', v.from)
        .where('issued_at', '<', v.to)
        .where(after(v))
        .where('body', 'is not', null)
        .where('expires_at', '>', v.asOf)
        .orderBy('issued_at')
        .orderBy('id')
        .limit(v.limit),
    ),
    departedReceipts: statement((v: Window & { least: number; most: number }) =>
      db
        .selectFrom('receipts')
        .select(['id', 'issued_at as issuedAt', 'profile'])
        .where('tenant', '=', v.tenant)
        .where('issued_at', '>=', v.from)
        .where('issued_at', '<', v.to)
        .where(after(v))
        .where(kept, '>=', v.least)
        .where(kept, '<=', v.most)
        .orderBy('issued_at')
        .orderBy('id')
        .limit(v.limit),
    ),
  };
}

function purgeQueries(db: Kysely<Schema>) {
  const purges = db.selectFrom('room_purges').select(['sequence', 'body']);
  return {
    newestRoomPurge: statement((v: { tenant: string }) =>
      purges.where('tenant', '=', v.tenant).orderBy('sequence', 'desc').limit(sql.lit(1)),
    ),
    insertRoomPurge: statement((v: PurgeRow & { tenant: string }) =>
      db
        .insertInto('room_purges')
        .values({ tenant: v.tenant, sequence: v.sequence, body: v.body })
        .onConflict((conflict) => conflict.columns(['tenant', 'sequence']).doNothing()),
    ),
    markSwept: statement((v: { tenant: string; sweptTo: number }) =>
      db
        .updateTable('tenants')
        .set({ swept_to: v.sweptTo })
        .where('id', '=', v.tenant)
        .where('swept_to', '<', v.sweptTo),
    ),
    pageOfRoomPurges: statement((v: { tenant: string; after: number; limit: number }) =>
      purges
        .where('tenant', '=', v.tenant)
        .where('sequence', '>', v.after)
        .orderBy('sequence')
        .limit(v.limit),
    ),
  };
}

function exportQueries(db: Kysely<Schema>) {
  const exports = db
    .selectFrom('room_exports')
    .select([
      'tenant',
      'created_at as createdAt',
      'receipt_id as receiptId',
      'manifest_sha256 as manifestSha256',
      'period_from as from',
      'period_to as to',
      'receipts',
      'bytes',
      'resumable_until as resumableUntil',
    ]);
  type Values = { now: number; before: number; limit: number };
  return {
    insertRoomExport: statement((v: ExportRow & { contents: string }) =>
      db.insertInto('room_exports').values({
        tenant: v.tenant,
        created_at: v.createdAt,
        receipt_id: v.receiptId,
        manifest_sha256: v.manifestSha256,
        period_from: v.from,
        period_to: v.to,
        receipts: v.receipts,
        bytes: v.bytes,
        resumable_until: v.resumableUntil,
        contents: v.contents,
      }),
    ),
    heldRoomExport: statement((v: { tenant: string; manifestSha256: string; now: number }) =>
      exports
        .select('contents')
        .where('tenant', '=', v.tenant)
        .where('manifest_sha256', '=', v.manifestSha256)
        .where('resumable_until', '>', v.now)
        .where('contents', 'is not', null)
        .limit(sql.lit(1)),
    ),
    pageOfRoomExports: statement(
      (v: { tenant: string; createdAt: number; receiptId: string; limit: number }) =>
        exports
          .where('tenant', '=', v.tenant)
          .where((row) =>
            row(row.refTuple('created_at', 'receipt_id'), '>', row.tuple(v.createdAt, v.receiptId)),
          )
          .orderBy('created_at')
          .orderBy('receipt_id')
          .limit(v.limit),
    ),
    emptyRoomExports: statement((v: Values) =>
      db
        .updateTable('room_exports')
        .set({ contents: sql`null` })
        .where('receipt_id', 'in', (query) =>
          query
            .selectFrom('room_exports')
            .select('receipt_id')
            .where('resumable_until', '<=', v.now)
            .where('contents', 'is not', null)
            .limit(v.limit),
        ),
    ),
    deleteRoomExports: statement((v: Values) =>
      db
        .deleteFrom('room_exports')
        .where('receipt_id', 'in', (query) =>
          query
            .selectFrom('room_exports')
            .select('receipt_id')
            .where('created_at', '<=', v.before)
            .limit(v.limit),
        ),
    ),
  };
}
