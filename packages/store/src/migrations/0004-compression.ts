import type { ChangedSchema } from './migration.ts';

export const compression: ChangedSchema = {
  name: 'compression',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('compression_notes')
      .addColumn('account', key, (column) => column.notNull())
      .addColumn('conversation', key, (column) => column.notNull())
      .addColumn('key', key, (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('compression_notes_pk', ['account', 'conversation', 'key'])
      .modifyEnd(clustered),
    schema
      .createIndex('compression_notes_age')
      .on('compression_notes')
      .columns(['account', 'expires_at', 'conversation', 'key']),
    schema.createIndex('compression_notes_expiry').on('compression_notes').column('expires_at'),
    schema
      .alterTable('usage_days')
      .addColumn('saved_tokens', 'bigint', (column) => column.notNull().defaultTo(0)),
    schema.alterTable('usage_days').addColumn('saving', 'bigint', (column) => column.notNull().defaultTo(0)),
    schema
      .createTable('compression_days')
      .addColumn('subject', key, (column) => column.notNull())
      .addColumn('day', key, (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addColumn('tokens_before', 'bigint', (column) => column.notNull())
      .addColumn('tokens_after', 'bigint', (column) => column.notNull())
      .addColumn('lost_cache_tokens', 'bigint', (column) => column.notNull())
      .addColumn('saving', 'bigint', (column) => column.notNull())
      .addColumn('share', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('compression_days_pk', ['subject', 'day'])
      .modifyEnd(clustered),
    schema
      .createTable('compression_method_days')
      .addColumn('subject', key, (column) => column.notNull())
      .addColumn('day', key, (column) => column.notNull())
      .addColumn('method', key, (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addColumn('tokens', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('compression_method_days_pk', ['subject', 'day', 'method'])
      .modifyEnd(clustered),
  ],
};
