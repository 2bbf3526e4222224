import type { ExportRow, PurgeRow, RoomPlace, TenantRow } from '@tallystick/callers';
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Compiler, statement } from './statement.ts';

export function tenantQueries(db: Compiler, { forUpdate, json }: Dialect) {
  return {
    ...keyQueries(db, forUpdate),
    ...receiptQueries(db, json),
    ...purgeQueries(db),
    ...exportQueries(db),
  };
}

function keyQueries(db: Compiler, forUpdate: RawBuilder<unknown>) {
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

function receiptQueries(db: Compiler, json: Dialect['json']) {
  type Page = RoomPlace & { tenant: string; from: number; to: number; limit: number };
  const page = (v: Page) =>
    db
      .selectFrom('receipts')
      .select(['id', 'issued_at as issuedAt'])
      .where('tenant', '=', v.tenant)
      .where('issued_at', '>=', v.from)
      .where('issued_at', '<', v.to)
      .where(sql<boolean>`(issued_at, id) > (${v.issuedAt}, ${v.id})`)
      .orderBy('issued_at')
      .orderBy('id')
      .limit(v.limit);
  return {
    roomReceipts: statement((v: Page & { firstOf: string }) =>
      page(v)
        .select(['expires_at as expiresAt', sql<string>`body`.as('body')])
        .where('body', 'is not', null)
        .where(sql<boolean>`issued_at >= coalesce(cast(${json(v.firstOf)} ->> profile as bigint), 0)`),
    ),
    departedReceipts: statement((v: Page & { among: string }) =>
      page(v)
        .select('profile')
        .where(sql<boolean>`${json(v.among)} ->> profile is not null`),
    ),
  };
}

function purgeQueries(db: Compiler) {
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

function exportQueries(db: Compiler) {
  const exports = db
    .selectFrom('room_exports')
    .select([
      'tenant',
      'etag',
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
        etag: v.etag,
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
    heldRoomExport: statement((v: { tenant: string; etag: string; now: number }) =>
      exports
        .select('contents')
        .where('tenant', '=', v.tenant)
        .where('etag', '=', v.etag)
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
