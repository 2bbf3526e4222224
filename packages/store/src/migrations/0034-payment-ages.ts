import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index by which payments that are over are deleted. */
export const paymentAges: AddedIndex = {
  name: 'payment-ages',
  index: {
    name: 'x402_payments_age',
    on: sql`x402_payments (created_at) where state in ('settled', 'delivered', 'failed')`,
  },
};
