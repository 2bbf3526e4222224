import { type RawBuilder, sql } from 'kysely';
import { apiKeyQueries } from './api-key-queries.ts';
import { callQueries } from './call-queries.ts';
import { compressionQueries } from './compression-queries.ts';
import { contentQueries } from './content-queries.ts';
import type { Dialect } from './dialect.ts';
import { learningQueries } from './learning-tables.ts';
import { leaseQueries } from './lease-queries.ts';
import { ledgerCheckQuery } from './ledger-check.ts';
import { ledgerQueries } from './ledger-queries.ts';
import { logQueries } from './log-queries.ts';
import { operatorQueries } from './operator-queries.ts';
import { paymentQueries } from './payment-queries.ts';
import { receiptListQueries } from './receipt-list-queries.ts';
import { restQueries } from './rest-queries.ts';
import type { Schema } from './schema.ts';
import { sessionListQueries } from './session-list-queries.ts';
import { sessionQueries } from './session-queries.ts';
import { type Compiler, statement } from './statement.ts';
import { statusQueries } from './status-tables.ts';
import { streamQueries } from './stream-queries.ts';
import { tenantQueries } from './tenant-queries.ts';
import { treasuryQueries } from './treasury-queries.ts';
import { webhookQueries } from './webhook-queries.ts';

/** The statements that all databases share. */
export function sharedQueries(db: Compiler, dialect: Dialect) {
  return {
    ...receiptQueries(db),
    ...receiptListQueries(db, dialect),
    ...sessionListQueries(db),
    ...sessionQueries(db),
    ...streamQueries(db),
    ...purgeQueries(db, dialect.skipLocked),
    ...issuerQueries(db),
    ...documentQueries(db),
    ...logQueries(db, dialect),
    ...apiKeyQueries(db, dialect),
    ...ledgerQueries(db, dialect),
    ...leaseQueries(db, dialect),
    ...restQueries(db, dialect),
    ...compressionQueries(db, dialect.skipLocked),
    ...learningQueries(db, dialect),
    ...paymentQueries(db),
    ...treasuryQueries(db, dialect),
    ...tenantQueries(db, dialect),
    ...callQueries(db, dialect),
    ...contentQueries(db),
    ...webhookQueries(db, dialect),
    ...statusQueries(db),
    ...operatorQueries(db, dialect),
    ledgerCheck: ledgerCheckQuery(db),
    ping: statement(() => db.selectNoFrom(sql<number>`1`.as('one'))),
  };
}

export type Queries = ReturnType<typeof sharedQueries>;

function receiptQueries(db: Compiler) {
  const records = db
    .selectFrom('idempotency')
    .leftJoin('receipts', 'receipts.id', 'idempotency.receipt_id')
    .select([
      'idempotency.request_hash as requestHash',
      sql<string>`coalesce(idempotency.response, receipts.body)`.as('response'),
    ]);
  return {
    getReceipt: statement((v: { id: string }) =>
      db.selectFrom('receipts').select(['body', 'tenant', 'expires_at as expiresAt']).where('id', '=', v.id),
    ),
    findLiveRecord: statement((v: { scope: string; now: number }) =>
      records.where('scope', '=', v.scope).where('idempotency.expires_at', '>', v.now),
    ),
  };
}

function purgeQueries(db: Compiler, skipLocked: RawBuilder<unknown>) {
  type Values = { now: number; limit: number };
  return {
    purgeIdempotency: statement((v: Values) =>
      db
        .deleteFrom('idempotency')
        .where('scope', 'in', (query) =>
          query
            .selectFrom('idempotency')
            .select('scope')
            .where('expires_at', '<=', v.now)
            .limit(v.limit)
            .modifyEnd(skipLocked),
        ),
    ),
    purgeCounters: statement((v: Values) =>
      db
        .deleteFrom('counters')
        .where('counter', 'in', (query) =>
          query
            .selectFrom('counters')
            .select('counter')
            .where('expires_at', '<=', v.now)
            .limit(v.limit)
            .modifyEnd(skipLocked),
        ),
    ),
  };
}

function issuerQueries(db: Compiler) {
  type Values = { did: string; record: string; sequence: number };
  return {
    getIssuer: statement((v: { did: string }) =>
      db.selectFrom('issuers').select(['record', 'sequence']).where('did', '=', v.did),
    ),
    insertIssuer: statement((v: Values) =>
      db
        .insertInto('issuers')
        .values({ did: v.did, record: v.record, sequence: v.sequence })
        .onConflict((conflict) => conflict.column('did').doNothing()),
    ),
    replaceIssuer: statement((v: Values & { previous: number }) =>
      db
        .updateTable('issuers')
        .set({ record: v.record, sequence: v.sequence })
        .where('did', '=', v.did)
        .where('sequence', '=', v.previous),
    ),
    pageOfIssuers: statement((v: { after: string; status: string | null; limit: number }) =>
      db
        .selectFrom('issuers')
        .select(['did', 'record', 'sequence'])
        .where('did', '>', v.after)
        .where(sql<boolean>`(cast(${v.status} as text) is null or record ->> 'status' = ${v.status})`)
        .orderBy('did')
        .limit(v.limit),
    ),
  };
}

function documentQueries(db: Compiler) {
  return {
    documentVersion: statement((v: { name: string; version: number }) =>
      db.selectFrom('documents').select('body').where('name', '=', v.name).where('version', '=', v.version),
    ),
    newestDocument: statement((v: { name: string }) =>
      db
        .selectFrom('documents')
        .select(['version', 'body'])
        .where('name', '=', v.name)
        .orderBy('version', 'desc')
        .limit(sql.lit(1)),
    ),
    insertDocument: statement((v: Schema['documents']) =>
      db.insertInto('documents').values({ name: v.name, version: v.version, body: v.body }),
    ),
    deleteOlderDocuments: statement((v: { name: string; version: number }) =>
      db.deleteFrom('documents').where('name', '=', v.name).where('version', '<', v.version),
    ),
  };
}
