import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/**
 * The columns by which receipts are looked for, between the owner and the time. An entry of an index of PostgreSQL takes
 * 2,704 bytes at most, so of the texts that callers choose it has the beginning.
 */
const INDEXES = [
  ['receipt_list_time', sql`(owner, at, id)`, sql``],
  ['receipt_list_profile', sql`(owner, profile, at, id)`, sql`where profile is not null`],
  ['receipt_list_purpose', sql`(owner, substr(purpose, 1, 50), at, id)`, sql`where purpose is not null`],
  ['receipt_list_did', sql`(owner, substr(did, 1, 100), at, id)`, sql`where did is not null`],
  ['receipt_list_model', sql`(owner, substr(model, 1, 50), at, id)`, sql`where model is not null`],
  ['receipt_list_key', sql`(owner, key, at, id)`, sql`where key is not null`],
  ['receipt_list_request', sql`(owner, request_hash, at, id)`, sql`where request_hash is not null`],
  ['receipt_list_session', sql`(owner, session, at, id)`, sql`where session is not null`],
  ['receipt_list_expiry', sql`(expires_at)`, sql``],
] as const;

/** Receipts and anchored hashes as those list them who issued them, and whose a receipt is. */
export const lists: ChangedSchema = {
  name: 'lists',
  statements: (db, { key, clustered }) => [
    db.schema.alterTable('receipts').addColumn('owned_by', 'text'),
    db.schema.alterTable('receipts').addColumn('made_with', 'text'),
    db.schema
      .createTable('receipt_list')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('profile', key, (column) => column.notNull())
      .addColumn('purpose', key)
      .addColumn('did', key)
      .addColumn('model', key)
      .addColumn('key', key)
      .addColumn('request_hash', key)
      .addColumn('session', key)
      .addColumn('cost', 'bigint')
      .addColumn('leaf_index', 'bigint')
      .addColumn('expires_at', 'bigint', (column) => column.notNull()),
    ...INDEXES.map(([name, columns, condition]) =>
      raw(db, sql`create index ${sql.ref(name)} on receipt_list ${columns} ${condition}`),
    ),
    db.schema
      .createTable('anchor_list')
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('idx', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('anchor_list_pk', ['owner', 'idx'])
      .modifyEnd(clustered),
  ],
};
