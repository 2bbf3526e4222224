import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that finds payments which a process was working on. */
export const paymentLeases: AddedIndex = {
  name: 'payment-leases',
  index: {
    name: 'x402_payments_leased',
    on: sql`x402_payments (lease_until) where state in ('settling', 'serving')`,
  },
};
