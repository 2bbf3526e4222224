import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that lists a tenant's receipts. A database that an earlier release brought to version 6 has it already. */
export const receiptsRoom: AddedIndex = {
  name: 'receipts-room',
  index: {
    name: 'receipts_room',
    on: sql`receipts (tenant, issued_at, id) where tenant is not null`,
  },
};
