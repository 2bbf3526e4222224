import type { IssuerRow } from '@tallystick/issuers';
import type { IdempotencyRecord, Repeated } from '@tallystick/kit';
import { all, run, type Work } from './database-work.ts';
import { replayOf } from './put-receipts.ts';
import type { Lookup, ReceiptTables } from './receipt-tables.ts';
import type { SqlDatabase } from './sql-database.ts';
import type { Store } from './store.ts';

export type IdempotentResponse = IdempotencyRecord & { readonly response: string };

/** See {@link Store.purge}. */
export function* purge(
  { queries: { purgeIdempotency, purgeCounters }, receiptTables }: SqlDatabase,
  now: number,
  limit: number,
): Work<Awaited<ReturnType<Store['purge']>>> {
  const idempotency = yield* run(purgeIdempotency, { now, limit });
  // A record replays its receipt's body, so no record may remain when the body is purged.
  const receipts = idempotency < limit ? yield* receiptTables.purgeReceipts({ now, limit }) : 0;
  const counters = yield* run(purgeCounters, { now, limit });
  return { receipts, idempotency, counters };
}

/** See {@link Store.putIssuer}. */
export function* putIssuer(
  { queries, receiptTables: tables }: SqlDatabase,
  row: IssuerRow,
  idempotency: IdempotentResponse | undefined,
): Work<'stored' | 'conflict' | Repeated> {
  const earlier = idempotency && (yield* claim(tables, idempotency));
  if (earlier) return replayOf(earlier, idempotency.requestHash);
  const swap = row.sequence === 1 ? queries.insertIssuer : queries.replaceIssuer;
  const swapped = yield* run(swap, { ...row, previous: row.sequence - 1 });
  if (swapped === 1) return 'stored';
  if (idempotency !== undefined) yield* tables.releaseScopes([idempotency.scope]);
  return 'conflict';
}

/** Writes the record, or returns the one that has the scope. Tries again when that one is purged in between. */
function* claim(tables: ReceiptTables, record: IdempotentResponse): Work<Lookup | undefined> {
  const { scope } = record;
  for (;;) {
    if ((yield* tables.claimScopes([{ ...record, receiptId: null }])).has(scope)) return undefined;
    const earlier = (yield* tables.findRecords([scope])).get(scope);
    if (earlier !== undefined) return earlier;
  }
}

/** See {@link Store.putDocument}. */
export function* putDocument(
  database: SqlDatabase,
  row: { name: string; version: number; body: string },
): Work<'stored' | 'stale'> {
  const { queries } = database;
  yield* database.lockDocuments();
  const [newest] = yield* all(queries.newestDocument, row);
  if (newest !== undefined && newest.version >= row.version) return 'stale';
  yield* run(queries.insertDocument, row);
  return 'stored';
}

/** See {@link Store.replaceDocument}. */
export function* replaceDocument(
  database: SqlDatabase,
  row: { name: string; version: number; body: string },
): Work<'stored' | 'stale'> {
  const outcome = yield* putDocument(database, row);
  if (outcome === 'stored') yield* run(database.queries.deleteOlderDocuments, row);
  return outcome;
}
