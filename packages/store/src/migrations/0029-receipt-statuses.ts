import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that finds receipts by how a call ended. */
export const receiptStatuses: AddedIndex = {
  name: 'receipt-statuses',
  index: {
    name: 'receipt_list_status',
    on: sql`receipt_list (owner, status, at, id) where status is not null`,
  },
};
