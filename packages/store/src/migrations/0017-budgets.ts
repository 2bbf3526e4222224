import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

/** What callers spend, the limits of that, and the keys that accounts make themselves. */
export const budgets: ChangedSchema = {
  name: 'budgets',
  statements: ({ schema }, { key, clustered }) => [
    schema.alterTable('api_keys').addColumn('owner', key),
    schema.alterTable('api_keys').addColumn('manages', 'bigint', (column) => column.notNull().defaultTo(1)),
    schema.alterTable('api_keys').addColumn('limits', 'text'),
    schema.alterTable('api_keys').addColumn('last_used_at', 'bigint'),
    schema.alterTable('api_keys').addColumn('previous_hash', key),
    schema.alterTable('api_keys').addColumn('previous_until', 'bigint'),
    schema.createIndex('api_keys_owner').on('api_keys').expression(sql`coalesce(owner, id), created_at, id`),
    schema.createIndex('api_keys_previous_hash').on('api_keys').column('previous_hash'),
    schema
      .createTable('did_limits')
      .addColumn('did', key, (column) => column.notNull().primaryKey())
      .addColumn('limits', 'text', (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createTable('spending')
      .addColumn('spender', key, (column) => column.notNull())
      .addColumn('day', key, (column) => column.notNull())
      .addColumn('charged', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('spending_pk', ['spender', 'day'])
      .modifyEnd(clustered),
    schema.alterTable('reservations').addColumn('spender', key),
    schema.alterTable('reservations').addColumn('owner', key),
    schema
      .alterTable('reservations')
      .addColumn('tokens', 'bigint', (column) => column.notNull().defaultTo(0)),
    schema
      .alterTable('reservations')
      .addColumn('minute', 'bigint', (column) => column.notNull().defaultTo(0)),
  ],
};
