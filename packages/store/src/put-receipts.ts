import type { IdempotencyRecord, PutOutcome, ReceiptRow, Repeated } from '@tallystick/kit';
import type { Work } from './database-work.ts';
import { type Lookup, type ReceiptTables, type RecordRow } from './receipt-tables.ts';

export interface Put {
  readonly row: ReceiptRow;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** Stores receipts inside a transaction. Returns one outcome per put, in their order. */
export function* putReceipts(tables: ReceiptTables, puts: readonly Put[]): Work<PutOutcome[]> {
  const outcomes = new Map<Put, PutOutcome>();
  for (let waiting = puts; waiting.length > 0; ) {
    yield* putRound(tables, waiting, outcomes);
    waiting = waiting.filter((put) => !outcomes.has(put));
  }
  return puts.flatMap((put) => outcomes.get(put) ?? []);
}

/**
 * Settles the first put of every scope and id, and with it those that repeat its scope or id. What stays open, because
 * its scope was released or purged just now, goes into another round.
 */
function* putRound(
  tables: ReceiptTables,
  waiting: readonly Put[],
  outcomes: Map<Put, PutOutcome>,
): Work<void> {
  const leaders = firstOfEach(waiting);
  const claimed = yield* tables.claimScopes(leaders.flatMap(recordOf));
  const writers = leaders.filter(
    ({ idempotency }) => idempotency === undefined || claimed.has(idempotency.scope),
  );
  const stored = yield* tables.insertReceipts(writers.map(({ row }) => row));
  for (const put of writers) if (stored.has(put.row.id)) outcomes.set(put, { kind: 'stored' });

  yield* tables.releaseScopes(scopesOf(writers.filter((put) => !outcomes.has(put))));
  const records = yield* tables.findRecords(scopesOf(waiting.filter((put) => !outcomes.has(put))));
  const ids = new Set(writers.map((put) => put.row.id));
  for (const put of waiting) {
    if (outcomes.has(put)) continue;
    const record = put.idempotency && records.get(put.idempotency.scope);
    if (put.idempotency !== undefined && record !== undefined) {
      outcomes.set(put, replayOf(record, put.idempotency.requestHash));
    } else if (ids.has(put.row.id)) {
      outcomes.set(put, { kind: 'id_taken' });
    }
  }
}

/** Drops every put whose scope or id an earlier put has. */
function firstOfEach(puts: readonly Put[]): Put[] {
  const scopes = new Set<string>();
  const ids = new Set<string>();
  return puts.filter(({ row, idempotency }) => {
    const first = !ids.has(row.id) && (idempotency === undefined || !scopes.has(idempotency.scope));
    ids.add(row.id);
    if (idempotency !== undefined) scopes.add(idempotency.scope);
    return first;
  });
}

/** The idempotency record of a put. It never outlives the receipt that it replays. */
function recordOf({ row, idempotency }: Put): RecordRow[] {
  if (idempotency === undefined) return [];
  const { scope, requestHash, response = null } = idempotency;
  const expiresAt = Math.min(idempotency.expiresAt, row.expiresAt);
  return [{ scope, requestHash, receiptId: row.id, response, expiresAt }];
}

function scopesOf(puts: readonly Put[]): string[] {
  return [...new Set(puts.flatMap(({ idempotency }) => idempotency?.scope ?? []))];
}

/** The outcome for a request whose scope has a record. */
export function replayOf(record: Lookup, requestHash: string): Repeated {
  return record.requestHash === requestHash
    ? { kind: 'replayed', response: record.response }
    : { kind: 'reused' };
}
