import type { ChangedSchema } from './migration.ts';

/** Sessions that the service signs, and the places of their receipts. */
export const sessions: ChangedSchema = {
  name: 'sessions',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('sessions')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('anchor', 'bigint', (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createTable('session_places')
      .addColumn('session', key, (column) => column.notNull())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('receipt_id', key, (column) => column.notNull())
      .addPrimaryKeyConstraint('session_places_pk', ['session', 'seq'])
      .modifyEnd(clustered),
  ],
};
