import type { ChangedSchema } from './migration.ts';

export const logWitnesses: ChangedSchema = {
  name: 'log witnesses',
  statements: ({ schema }, { key, bytes }) => [
    schema
      .createTable('log_witnesses')
      .addColumn('name', key, (column) => column.notNull())
      .addColumn('public_key', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('log_witnesses_pk', ['name', 'public_key']),
  ],
};
