import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that finds receipts by cost. It has what puts them in order and tells which have expired, so that no row is read for that. */
export const receiptCosts: AddedIndex = {
  name: 'receipt-costs',
  index: {
    name: 'receipt_list_cost',
    on: sql`receipt_list (owner, cost, at, id, expires_at) where cost is not null`,
  },
};
