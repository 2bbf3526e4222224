import type { ChangedSchema } from './migration.ts';

/** Keys of operators, apart from those of callers, so that no statement about the one can reach the other. */
export const operatorKeys: ChangedSchema = {
  name: 'operator keys',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('operator_keys')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('hash', key, (column) => column.notNull().unique())
      .addColumn('label', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .modifyEnd(clustered),
  ],
};
