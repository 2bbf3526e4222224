import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that lists withdrawals, or refunds, by their time. */
export const payoutsOfKinds: AddedIndex = {
  name: 'payouts-of-kinds',
  index: { name: 'payouts_kind', on: sql`payouts (kind, created_at, id)` },
};
