import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

/** What the processes have learned of models, and the calls that callers may rate, with their ratings. */
export const learning: ChangedSchema = {
  name: 'learning',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('learned')
      .addColumn('model', key, (column) => column.notNull().primaryKey())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .modifyEnd(clustered),
    schema.createIndex('learned_at').on('learned').column('at'),
    schema
      .createTable('rated_calls')
      .addColumn('receipt_id', key, (column) => column.notNull().primaryKey())
      .addColumn('account', key, (column) => column.notNull())
      .addColumn('model', key, (column) => column.notNull())
      .addColumn('arm', 'text')
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('score', 'bigint')
      .addColumn('label', 'text')
      .addColumn('comment', 'text')
      .addColumn('rated_at', 'bigint')
      .modifyEnd(clustered),
    schema
      .createIndex('rated_calls_ratings')
      .on('rated_calls')
      .column('account')
      .where(sql<boolean>`score is not null`),
    schema.createIndex('rated_calls_expiry').on('rated_calls').column('expires_at'),
  ],
};
