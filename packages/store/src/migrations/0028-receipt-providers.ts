import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that finds receipts by the provider of a call. */
export const receiptProviders: AddedIndex = {
  name: 'receipt-providers',
  index: {
    name: 'receipt_list_provider',
    on: sql`receipt_list (owner, substr(provider, 1, 50), at, id) where provider is not null`,
  },
};
