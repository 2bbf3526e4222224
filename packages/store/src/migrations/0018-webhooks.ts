import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

/** Webhooks with their deliveries, and the history of the status. */
export const webhooks: ChangedSchema = {
  name: 'webhooks',
  statements: ({ schema }, { key, clustered }) => [
    schema
      .createTable('webhooks')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('events', 'text', (column) => column.notNull())
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('disabled_at', 'bigint')
      .addColumn('disabled_because', 'text')
      .addColumn('failing_since', 'bigint')
      .addColumn('lease_until', 'bigint', (column) => column.notNull().defaultTo(0))
      .modifyEnd(clustered),
    schema.createIndex('webhooks_of_owner').on('webhooks').columns(['owner', 'created_at']),
    schema
      .createTable('webhook_deliveries')
      .addColumn('webhook', key, (column) => column.notNull())
      .addColumn('message', key, (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('attempts', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint')
      .addColumn('last_at', 'bigint')
      .addColumn('status', 'bigint')
      .addColumn('problem', 'text')
      .addColumn('took', 'bigint')
      .addPrimaryKeyConstraint('webhook_deliveries_pk', ['webhook', 'message'])
      .modifyEnd(clustered),
    schema
      .createIndex('webhook_deliveries_due')
      .on('webhook_deliveries')
      .columns(['due_at', 'webhook'])
      .where(sql.ref('due_at'), 'is not', null),
    schema
      .createIndex('webhook_deliveries_newest')
      .on('webhook_deliveries')
      .columns(['webhook', 'at', 'message']),
    schema.createIndex('webhook_deliveries_age').on('webhook_deliveries').column('at'),
    schema
      .createTable('webhook_marks')
      .addColumn('name', key, (column) => column.notNull().primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .modifyEnd(clustered),
    schema
      .createTable('status_states')
      .addColumn('kind', key, (column) => column.notNull())
      .addColumn('id', key, (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('started_at', 'bigint')
      .addPrimaryKeyConstraint('status_states_pk', ['kind', 'id'])
      .modifyEnd(clustered),
    schema
      .createTable('status_days')
      .addColumn('kind', key, (column) => column.notNull())
      .addColumn('id', key, (column) => column.notNull())
      .addColumn('day', key, (column) => column.notNull())
      .addColumn('up', 'bigint', (column) => column.notNull())
      .addColumn('degraded', 'bigint', (column) => column.notNull())
      .addColumn('down', 'bigint', (column) => column.notNull())
      .addColumn('unknown', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('status_days_pk', ['kind', 'id', 'day'])
      .modifyEnd(clustered),
    schema.createIndex('status_days_age').on('status_days').column('day'),
    schema
      .createTable('status_incidents')
      .addColumn('kind', key, (column) => column.notNull())
      .addColumn('id', key, (column) => column.notNull())
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('code', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('status_incidents_pk', ['kind', 'id', 'started_at'])
      .modifyEnd(clustered),
    schema
      .createIndex('status_incidents_newest')
      .on('status_incidents')
      .columns(['started_at', 'kind', 'id']),
  ],
};
