import type { ChangedSchema } from './migration.ts';

/** Streams of receipts: a row for each, one for each round in which it grew, and its signed heads. Nothing of it is purged. */
export const streams: ChangedSchema = {
  name: 'streams',
  statements: ({ schema }, { key, bytes, clustered }) => [
    schema
      .createTable('streams')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('since', 'bigint', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .addColumn('head', bytes, (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createTable('stream_rounds')
      .addColumn('stream', key, (column) => column.notNull())
      .addColumn('first', 'bigint', (column) => column.notNull())
      .addColumn('hashes', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('stream_rounds_pk', ['stream', 'first'])
      .modifyEnd(clustered),
    schema
      .createTable('stream_heads')
      .addColumn('stream', key, (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('stream_heads_pk', ['stream', 'sequence'])
      .modifyEnd(clustered),
  ],
};
