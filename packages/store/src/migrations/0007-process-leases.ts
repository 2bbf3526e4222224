import type { ChangedSchema } from './migration.ts';

export const processLeases: ChangedSchema = {
  name: 'process-leases',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('processes')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('lease_until', 'double precision', (column) => column.notNull())
      .modifyEnd(clustered),
    // Has one row for each request under way: so few that finding those of a dead process needs no index.
    schema
      .createTable('claims')
      .addColumn('scope', key, (column) => column.notNull().primaryKey())
      .addColumn('request_hash', 'text', (column) => column.notNull())
      .addColumn('process', key, (column) => column.notNull())
      .addColumn('token', 'text', (column) => column.notNull())
      .modifyEnd(clustered),
    schema.alterTable('reservations').addColumn('process', key),
  ],
};
