import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/** The columns by which calls are looked for, each with its owner before it and the time behind it. */
const INDEXES = [
  ['calls_time', sql`(owner, at, cost)`, sql``],
  ['calls_model', sql`(owner, model, at)`, sql``],
  ['calls_provider', sql`(owner, provider, at)`, sql``],
  ['calls_status', sql`(owner, status, at)`, sql``],
  // Written so that a database does not take it for a search by code.
  ['calls_failed', sql`(owner, at)`, sql`where coalesce(error_code, '') <> ''`],
  ['calls_error', sql`(owner, error_code, at)`, sql`where error_code is not null`],
  // With the id, so that the rows of a range of costs are put in order without being read.
  ['calls_cost', sql`(owner, cost, at, id)`, sql``],
  ['calls_did', sql`(owner, did, at)`, sql`where did is not null`],
  ['calls_key', sql`(owner, key, at)`, sql`where key is not null`],
  ['calls_session', sql`(owner, session, at)`, sql`where session is not null`],
  ['calls_request', sql`(owner, request_hash, at)`, sql`where request_hash is not null`],
] as const;

/** The calls of models as their callers list them, and whose a settled call is. */
export const calls: ChangedSchema = {
  name: 'calls',
  statements: (db, { key, clustered }) => [
    db.schema.alterTable('ledger_postings').addColumn('owner', 'text'),
    db.schema
      .createTable('calls')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('receipt_id', 'text')
      .addColumn('model', key)
      .addColumn('requested_model', 'text', (column) => column.notNull())
      .addColumn('provider', key)
      .addColumn('route_reason', 'text')
      .addColumn('stream', 'bigint', (column) => column.notNull())
      .addColumn('prompt_tokens', 'bigint')
      .addColumn('completion_tokens', 'bigint')
      .addColumn('cached_tokens', 'bigint')
      .addColumn('cost', 'bigint', (column) => column.notNull())
      .addColumn('saving', 'bigint', (column) => column.notNull())
      .addColumn('first_byte_ms', 'bigint')
      .addColumn('total_ms', 'bigint')
      .addColumn('status', 'bigint', (column) => column.notNull())
      .addColumn('error_code', key)
      .addColumn('did', key)
      .addColumn('key', key)
      .addColumn('session', key)
      .addColumn('tags', 'text')
      .addColumn('request_hash', key),
    ...INDEXES.map(([name, columns, condition]) =>
      raw(db, sql`create index ${sql.ref(name)} on calls ${columns} ${condition}`),
    ),
    db.schema
      .createTable('call_tags')
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('tag', key, (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('id', key, (column) => column.notNull())
      .addPrimaryKeyConstraint('call_tags_pk', ['owner', 'tag', 'at', 'id'])
      .modifyEnd(clustered),
    db.schema
      .createTable('call_details')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('body', 'text', (column) => column.notNull()),
    db.schema
      .createTable('call_writers')
      .addColumn('process', key, (column) => column.notNull().primaryKey())
      .addColumn('listed_until', 'bigint', (column) => column.notNull()),
    db.schema
      .createTable('call_counts')
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('span', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('model', key, (column) => column.notNull())
      .addColumn('provider', key, (column) => column.notNull())
      .addColumn('status', 'bigint', (column) => column.notNull())
      .addColumn('key', key, (column) => column.notNull())
      .addColumn('band', 'bigint', (column) => column.notNull())
      .addColumn('calls', 'bigint', (column) => column.notNull())
      .addColumn('errors', 'bigint', (column) => column.notNull())
      .addColumn('prompt_tokens', 'bigint', (column) => column.notNull())
      .addColumn('completion_tokens', 'bigint', (column) => column.notNull())
      .addColumn('cost', 'bigint', (column) => column.notNull())
      .addColumn('saving', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('call_counts_pk', [
        'owner',
        'span',
        'at',
        'model',
        'provider',
        'status',
        'key',
        'band',
      ])
      .modifyEnd(clustered),
  ],
};
