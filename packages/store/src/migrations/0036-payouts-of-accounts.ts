import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/** The index that lists the payouts of an account by their time. */
export const payoutsOfAccounts: ChangedSchema = {
  name: 'payouts-of-accounts',
  statements: (db) => [raw(db, sql`create index payouts_account on payouts (account, kind, created_at, id)`)],
};
