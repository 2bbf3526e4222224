import type { ListedReceipt } from '@tallystick/receipts';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { type ReceiptCountRow, receiptCountsOf } from './receipt-list-rows.ts';
import { sessionAdder, sessionsOfReceipts } from './session-list-tables.ts';
import { table } from './table.ts';

/** The statements about many rows of the list of receipts, which keep its counts right. All run inside a transaction. */
export interface ReceiptListTables {
  /** Inserts the rows whose id has none, and adds them to their sessions. */
  listReceipts(rows: readonly ListedReceipt[]): Work<void>;
  /** Deletes rows of receipts that have expired at `now` (unix seconds), at most `limit`. Returns how many. */
  unlistReceipts(values: { readonly now: number; readonly limit: number }): Work<number>;
}

const LISTED = table<ListedReceipt>('receipt_list', ['id'], {
  id: 'text',
  owner: 'text',
  at: 'integer',
  profile: 'text',
  purpose: 'text',
  did: 'text',
  model: 'text',
  provider: 'text',
  status: 'text',
  key: 'text',
  requestHash: 'text',
  session: 'text',
  cost: 'money',
  leafIndex: 'integer',
  expiresAt: 'integer',
});

const COUNTS = table<ReceiptCountRow>(
  'receipt_counts',
  ['owner', 'span', 'at', 'profile', 'purpose', 'provider', 'status', 'model', 'key'],
  {
    owner: 'text',
    span: 'integer',
    at: 'integer',
    profile: 'text',
    purpose: 'text',
    provider: 'text',
    status: 'text',
    model: 'text',
    key: 'text',
    receipts: 'integer',
  },
);

export function receiptListTables(bulk: Bulk, { skipLocked }: Dialect): ReceiptListTables {
  const insert = bulk.insertNew(LISTED);
  const add = bulk.add(COUNTS);
  const removeEqual = bulk.removeEqual(COUNTS);
  const addSessions = sessionAdder(bulk);
  const takeExpired = bulk.take(
    LISTED,
    (v: { now: number; limit: number }) =>
      sql`select id from receipt_list where expires_at <= ${v.now} limit ${v.limit} ${skipLocked}`,
  );
  return {
    *listReceipts(rows) {
      const inserted = yield* insert(rows);
      const added = rows.filter(({ id }) => inserted.has(id));
      yield* add(receiptCountsOf(added));
      yield* addSessions(sessionsOfReceipts(added));
    },
    *unlistReceipts(values) {
      const expired = yield* takeExpired(values);
      const counts = receiptCountsOf(expired, -1);
      yield* add(counts);
      yield* removeEqual(counts.map((count) => ({ ...count, receipts: 0 })));
      return expired.length;
    },
  };
}
