import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

export const anchorLog: ChangedSchema = {
  name: 'anchor log',
  statements: (db, { key, bytes, ordinal }) => [
    db.schema
      .createTable('api_keys')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('hash', key, (column) => column.notNull().unique())
      .addColumn('tier', 'text', (column) => column.notNull())
      .addColumn('label', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint'),
    db.schema
      .createTable('leaves')
      .addColumn('idx', ordinal, (column) => column.notNull().primaryKey())
      .addColumn('hash', bytes, (column) => column.notNull().unique().check(sql`length(hash) = 32`))
      .addColumn('batch_at', 'bigint', (column) => column.notNull()),
    db.schema
      .createTable('log_state')
      .addColumn('id', 'bigint', (column) => column.primaryKey().check(sql`id = 1`))
      .addColumn('next_index', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('batch_floor', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('head_size', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('head_root', bytes)
      .addColumn('lease_epoch', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('lease_holder', 'text')
      .addColumn('lease_expires_at', 'double precision', (column) => column.notNull().defaultTo(0))
      .addColumn('origin', 'text')
      .addColumn('chain_id', 'bigint')
      .addColumn('public_key', 'text'),
    db
      .insertInto('log_state')
      .columns(['id'])
      .expression(db.selectNoFrom(sql<number>`1`.as('id'))),
    db.schema
      .createTable('tiles')
      .addColumn('level', 'bigint', (column) => column.notNull())
      .addColumn('idx', 'bigint', (column) => column.notNull())
      .addColumn('hashes', bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint('tiles_pk', ['level', 'idx']),
    db.schema
      .createTable('checkpoints')
      .addColumn('size', ordinal, (column) => column.notNull().primaryKey())
      .addColumn('root', bytes, (column) => column.notNull())
      .addColumn('note', 'text', (column) => column.notNull()),
    db.schema
      .createTable('postings')
      .addColumn('sequence', ordinal, (column) => column.notNull().primaryKey())
      .addColumn('batch_at', 'bigint', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull().unique())
      .addColumn('root', bytes, (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('nonce', 'bigint', (column) => column.notNull())
      .addColumn('tx_hash', 'text')
      .addColumn('block_height', 'bigint')
      .addColumn('block_hash', 'text')
      .addColumn('block_time', 'bigint')
      .addColumn('finalized_at', 'bigint'),
    db.schema
      .createTable('posting_attempts')
      .addColumn('sequence', 'bigint', (column) => column.notNull())
      .addColumn('attempt', 'bigint', (column) => column.notNull())
      .addColumn('nonce', 'bigint', (column) => column.notNull())
      .addColumn('tx_hash', 'text', (column) => column.notNull().unique())
      .addColumn('raw', 'text', (column) => column.notNull())
      .addColumn('max_fee_per_gas', 'text', (column) => column.notNull())
      .addColumn('max_priority_fee_per_gas', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('posting_attempts_pk', ['sequence', 'attempt']),
  ],
};
