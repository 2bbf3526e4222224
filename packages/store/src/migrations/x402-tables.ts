import { type Compilable, type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import type { ColumnTypes } from './migration.ts';

/** The tables of x402 payments: part of the migration `payments`. */
export function x402Tables({ schema }: Kysely<Schema>, { key, clustered }: ColumnTypes): Compilable[] {
  return [
    schema
      .createTable('x402_payments')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('identifier', key, (column) => column.unique())
      .addColumn('scheme', key, (column) => column.notNull())
      .addColumn('payer', key, (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull())
      .addColumn('charged', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('request_hash', key, (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('state', key, (column) => column.notNull())
      .addColumn('tx_hash', key)
      .addColumn('receipt_id', key)
      .addColumn('lease_until', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createIndex('x402_payments_open')
      .on('x402_payments')
      .columns(['payer', 'lease_until'])
      .where(
        sql.ref('state'),
        'in',
        ['settling', 'serving', 'owed', 'failed'].map((state) => sql.lit(state)),
      ),
    schema
      .createIndex('x402_payments_tx')
      .on('x402_payments')
      .column('tx_hash')
      .where(sql.ref('tx_hash'), 'is not', null),
    schema
      .createTable('x402_channels')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('claimable', 'bigint', (column) => column.notNull())
      .addColumn('document', 'text', (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createIndex('x402_channels_claimable')
      .on('x402_channels')
      .column('id')
      .where(sql.ref('claimable'), '>', sql.lit(0)),
  ];
}
