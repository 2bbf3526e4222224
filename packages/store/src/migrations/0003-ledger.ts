import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

export const ledger: ChangedSchema = {
  name: 'ledger',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('accounts')
      .addColumn('account', key, (column) => column.notNull().primaryKey())
      .addColumn('balance', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('reserved', 'bigint', (column) => column.notNull().defaultTo(0).check(sql`reserved >= 0`))
      .addColumn('dust', 'bigint', (column) => column.notNull().defaultTo(0).check(sql`dust >= 0`))
      .addColumn('lines', 'bigint', (column) => column.notNull().defaultTo(0))
      .addCheckConstraint('accounts_covered', sql`substr(account, 1, 7) <> 'caller:' or balance >= reserved`)
      .modifyEnd(clustered),
    // Has one row for each call under way: so few that finding the expired ones needs no index.
    schema
      .createTable('reservations')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('account', key, (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull().check(sql`amount >= 0`))
      .addColumn('dust', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createTable('ledger_postings')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('memo', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createTable('ledger_entries')
      .addColumn('account', key, (column) => column.notNull())
      .addColumn('line', 'bigint', (column) => column.notNull())
      .addColumn('posting', key, (column) => column.notNull())
      .addColumn('amount', 'bigint', (column) => column.notNull())
      .addColumn('balance', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('ledger_entries_pk', ['account', 'line'])
      .modifyEnd(clustered),
    schema
      .createTable('usage_days')
      .addColumn('subject', key, (column) => column.notNull())
      .addColumn('day', key, (column) => column.notNull())
      .addColumn('model', key, (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addColumn('prompt_tokens', 'bigint', (column) => column.notNull())
      .addColumn('completion_tokens', 'bigint', (column) => column.notNull())
      .addColumn('cached_tokens', 'bigint', (column) => column.notNull())
      .addColumn('charged', 'bigint', (column) => column.notNull())
      .addColumn('share', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_days_pk', ['subject', 'day', 'model'])
      .modifyEnd(clustered),
    schema
      .createTable('members')
      .addColumn('did', key, (column) => column.notNull().primaryKey())
      .addColumn('handle', key, (column) => column.unique())
      .addColumn('registered_at', 'bigint', (column) => column.notNull())
      .addColumn('jobs', 'bigint', (column) => column.notNull().defaultTo(0)),
    schema.createIndex('members_rank').on('members').columns(['jobs desc', 'registered_at', 'did']),
  ],
};
