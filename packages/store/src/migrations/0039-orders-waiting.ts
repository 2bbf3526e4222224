import { sql } from 'kysely';
import type { AddedIndex } from './migration.ts';

/** The index that lists the orders which wait for their payment, or for their delivery. */
export const ordersWaiting: AddedIndex = {
  name: 'orders-waiting',
  index: {
    name: 'orders_waiting',
    on: sql`orders (created_at, id) where state in ('open', 'delivering', 'undeliverable')`,
  },
};
