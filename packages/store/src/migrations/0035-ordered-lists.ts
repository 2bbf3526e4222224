import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/** The indexes that list orders, payouts and API keys by their time, and payouts that are under way. */
export const orderedLists: ChangedSchema = {
  name: 'ordered-lists',
  statements: (db) => [
    raw(db, sql`create index orders_time on orders (created_at, id)`),
    raw(db, sql`create index api_keys_time on api_keys (created_at, id)`),
    raw(db, sql`create index payouts_time on payouts (created_at, id)`),
    raw(
      db,
      sql`create index payouts_open on payouts (kind, created_at, id) where state in ('waiting', 'paying')`,
    ),
  ],
};
