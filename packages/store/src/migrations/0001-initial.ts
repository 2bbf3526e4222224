import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

export const initial: ChangedSchema = {
  name: 'initial',
  statements: ({ schema }, { key }) => [
    schema
      .createTable('receipts')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('profile', 'text', (column) => column.notNull())
      .addColumn('tenant', 'text')
      .addColumn('body', 'text')
      .addColumn('issued_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull()),
    schema
      .createIndex('receipts_expiry')
      .on('receipts')
      .column('expires_at')
      .where(sql<boolean>`body is not null`),
    schema
      .createTable('idempotency')
      .addColumn('scope', key, (column) => column.notNull().primaryKey())
      .addColumn('request_hash', 'text', (column) => column.notNull())
      .addColumn('receipt_id', 'text')
      .addColumn('response', 'text')
      .addColumn('expires_at', 'bigint', (column) => column.notNull()),
    schema.createIndex('idempotency_expiry').on('idempotency').column('expires_at'),
    schema
      .createTable('counters')
      .addColumn('counter', key, (column) => column.notNull().primaryKey())
      .addColumn('used', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull()),
    schema.createIndex('counters_expiry').on('counters').column('expires_at'),
    schema
      .createTable('issuers')
      .addColumn('did', key, (column) => column.notNull().primaryKey())
      .addColumn('record', 'json', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull()),
    schema
      .createTable('documents')
      .addColumn('name', key, (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('documents_pk', ['name', 'version']),
  ],
};
