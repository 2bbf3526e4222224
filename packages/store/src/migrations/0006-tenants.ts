import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

export const tenants: ChangedSchema = {
  name: 'tenants',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('tenants')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('label', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .addColumn('swept_to', 'bigint', (column) => column.notNull()),
    schema
      .createTable('tenant_keys')
      .addColumn('key_id', key, (column) => column.notNull().primaryKey())
      .addColumn('tenant', key, (column) => column.notNull())
      .modifyEnd(clustered),
    schema.createIndex('tenant_keys_tenant').on('tenant_keys').column('tenant'),
    schema
      .createTable('room_purges')
      .addColumn('tenant', key, (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('room_purges_pk', ['tenant', 'sequence'])
      .modifyEnd(clustered),
    schema
      .createTable('room_exports')
      .addColumn('tenant', key, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('receipt_id', key, (column) => column.notNull())
      .addColumn('manifest_sha256', key, (column) => column.notNull())
      .addColumn('period_from', 'bigint', (column) => column.notNull())
      .addColumn('period_to', 'bigint', (column) => column.notNull())
      .addColumn('receipts', 'bigint', (column) => column.notNull())
      .addColumn('bytes', 'bigint', (column) => column.notNull())
      .addColumn('resumable_until', 'bigint', (column) => column.notNull())
      .addColumn('contents', 'text')
      .addPrimaryKeyConstraint('room_exports_pk', ['tenant', 'created_at', 'receipt_id']),
    schema.createIndex('room_exports_manifest').on('room_exports').columns(['tenant', 'manifest_sha256']),
    schema
      .createIndex('room_exports_held')
      .on('room_exports')
      .column('resumable_until')
      .where(sql<boolean>`contents is not null`),
  ],
};
