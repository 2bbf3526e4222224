import type { IdempotencyRecord, NewReceipt, PutOutcome, Repeated, SessionPlaceRow } from '@tallystick/kit';
import { advanceStreams } from './advance-streams.ts';
import type { Work } from './database-work.ts';
import { type Lookup, type ReceiptTables, type RecordRow } from './receipt-tables.ts';

export interface Put {
  readonly row: NewReceipt;
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
 * Settles the first put of every scope, id and session, and with it those that repeat its scope or id. What stays open,
 * because it is of the same session, or its scope was released or purged just now, goes into another round.
 */
function* putRound(
  tables: ReceiptTables,
  waiting: readonly Put[],
  outcomes: Map<Put, PutOutcome>,
): Work<void> {
  const leaders = firstOfEach(waiting);
  const claimed = yield* tables.claimScopes(leaders.flatMap(recordOf));
  const claimants = leaders.filter(
    ({ idempotency }) => idempotency === undefined || claimed.has(idempotency.scope),
  );
  const placed = yield* tables.takePlaces(claimants.flatMap(placeOf));
  const isPlaced = ({ row: { place } }: Put): boolean => place === undefined || placed.has(place.session.id);
  const writers = claimants.filter(isPlaced);
  const stored = yield* tables.insertReceipts(
    writers.map(({ row }) => ({ ...row, owner: row.owner ?? null, key: row.key ?? null })),
  );
  const writtenDown = writers.filter(({ row }) => stored.has(row.id));
  yield* tables.insertSessions(
    writtenDown.flatMap(({ row: { place } }) => (place?.seq === 0 ? place.session : [])),
  );
  yield* advanceStreams(
    tables,
    writtenDown.map(({ row }) => row),
  );
  for (const put of writtenDown) outcomes.set(put, { kind: 'stored' });

  const losers = claimants.filter((put) => !outcomes.has(put));
  yield* tables.leavePlaces(losers.filter(isPlaced).flatMap(placeOf));
  yield* tables.releaseScopes(scopesOf(losers));
  for (const put of losers) if (!isPlaced(put)) outcomes.set(put, { kind: 'place_taken' });
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

/** Drops every put whose scope, id or session an earlier put has. */
function firstOfEach(puts: readonly Put[]): Put[] {
  const seen = new Set<string>();
  return puts.filter(({ row, idempotency }) => {
    const names = [`id ${row.id}`];
    if (idempotency !== undefined) names.push(`scope ${idempotency.scope}`);
    if (row.place !== undefined) names.push(`session ${row.place.session.id}`);
    const first = names.every((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return first;
  });
}

/** The place that a put takes. */
function placeOf({ row: { id, place } }: Put): SessionPlaceRow[] {
  return place === undefined ? [] : [{ session: place.session.id, seq: place.seq, receiptId: id }];
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
