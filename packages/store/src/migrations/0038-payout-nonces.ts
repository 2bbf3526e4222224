import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that finds the greatest nonce that was ever signed with. */
export const payoutNonces: AddedIndex = {
  name: 'payout-nonces',
  index: { name: 'payout_attempts_nonce', on: sql`payout_attempts (sender, nonce)` },
};
