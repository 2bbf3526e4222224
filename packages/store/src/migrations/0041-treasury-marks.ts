import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/** How far the books were compared with the chain. Lists of payouts are read by the indexes that begin with their account or kind. */
export const treasuryMarks: ChangedSchema = {
  name: 'treasury-marks',
  statements: (db, types) => [
    db.schema
      .createTable('treasury_marks')
      .addColumn('network', types.key, (column) => column.notNull().primaryKey())
      .addColumn('height', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', types.key, (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .modifyEnd(types.clustered),
    raw(db, sql`drop index payouts_time`),
  ],
};
