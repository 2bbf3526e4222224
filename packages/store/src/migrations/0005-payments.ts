import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';
import { x402Tables } from './x402-tables.ts';

export const payments: ChangedSchema = {
  name: 'payments',
  statements: (db, types) => [
    db.schema.alterTable('api_keys').addColumn('expires_at', 'bigint'),
    db.schema
      .createTable('transfer_cursors')
      .addColumn('network', types.key, (column) => column.notNull())
      .addColumn('treasury', types.key, (column) => column.notNull())
      .addColumn('height', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', types.key, (column) => column.notNull())
      .addColumn('first_height', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('transfer_cursors_pk', ['network', 'treasury'])
      .modifyEnd(types.clustered),
    db.schema
      .createTable('transfers')
      .addColumn('id', types.key, (column) => column.notNull().primaryKey())
      .addColumn('network', types.key, (column) => column.notNull())
      .addColumn('tx_hash', types.key, (column) => column.notNull())
      .addColumn('ordinal', 'bigint', (column) => column.notNull())
      .addColumn('height', 'bigint', (column) => column.notNull())
      .addColumn('block_hash', types.key, (column) => column.notNull())
      .addColumn('block_time', 'bigint', (column) => column.notNull())
      .addColumn('sender', types.key, (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull())
      .addColumn('memo', 'text')
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('outcome', types.key)
      .addColumn('reference', types.key)
      .addColumn('ended_at', 'bigint')
      .modifyEnd(types.clustered),
    db.schema
      .createIndex('transfers_undecided')
      .on('transfers')
      .columns(['height', 'id'])
      .where(sql.ref('outcome'), 'is', null),
    db.schema
      .createTable('orders')
      .addColumn('id', types.key, (column) => column.notNull().primaryKey())
      .addColumn('kind', types.key, (column) => column.notNull())
      .addColumn('state', types.key, (column) => column.notNull())
      .addColumn('tier', types.key)
      .addColumn('months', 'bigint', (column) => column.notNull())
      .addColumn('contact', 'text')
      .addColumn('did', 'text')
      .addColumn('account', types.key)
      .addColumn('amount', 'bigint')
      .addColumn('payment', types.key, (column) => column.unique())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('api_key', types.key)
      .addColumn('paid_until', 'bigint')
      .addColumn('seed', types.key)
      .addColumn('sealed', 'text')
      .addColumn('attempts', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('due_at', 'bigint')
      .addColumn('problem', 'text')
      .addColumn('delivered_at', 'bigint')
      .modifyEnd(types.clustered),
    // Payments are matched to open quotes by amount, so no two open quotes may have the same one.
    db.schema
      .createIndex('orders_open')
      .unique()
      .on('orders')
      .column('amount')
      .where(sql.ref('state'), '=', sql.lit('open')),
    db.schema
      .createIndex('orders_due')
      .on('orders')
      .column('due_at')
      .where(sql.ref('due_at'), 'is not', null),
    db.schema
      .createTable('payouts')
      .addColumn('id', types.key, (column) => column.notNull().primaryKey())
      .addColumn('kind', types.key, (column) => column.notNull())
      .addColumn('state', types.key, (column) => column.notNull())
      .addColumn('network', types.key, (column) => column.notNull())
      .addColumn('account', types.key, (column) => column.notNull())
      .addColumn('address', types.key, (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull().check(sql`amount > 0`))
      .addColumn('reason', types.key)
      .addColumn('transfer', types.key, (column) => column.unique())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('sender', types.key)
      .addColumn('nonce', 'bigint')
      .addColumn('tx_hash', types.key)
      .addColumn('height', 'bigint')
      .addColumn('note', 'text')
      .addColumn('ended_at', 'bigint')
      // The chain takes one transaction of a nonce, so no two payouts may use the same one.
      .addUniqueConstraint('payouts_nonce', ['network', 'sender', 'nonce'])
      .modifyEnd(types.clustered),
    db.schema
      .createTable('payout_attempts')
      .addColumn('payout', types.key, (column) => column.notNull())
      .addColumn('attempt', 'bigint', (column) => column.notNull())
      .addColumn('sender', types.key, (column) => column.notNull())
      .addColumn('nonce', 'bigint', (column) => column.notNull())
      .addColumn('tx_hash', types.key, (column) => column.notNull().unique())
      .addColumn('raw', 'text', (column) => column.notNull())
      .addColumn('max_fee_per_gas', types.key, (column) => column.notNull())
      .addColumn('max_priority_fee_per_gas', types.key, (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('payout_attempts_pk', ['payout', 'attempt'])
      .modifyEnd(types.clustered),
    ...x402Tables(db, types),
  ],
};
