import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/** Counts of receipts by span of time, and what the receipt of a call says of its answer. */
export const receiptCounts: ChangedSchema = {
  name: 'receipt-counts',
  statements: (db, { key, clustered }) => [
    db.schema.alterTable('receipt_list').addColumn('provider', key),
    db.schema.alterTable('receipt_list').addColumn('status', key),
    raw(
      db,
      sql`
        update receipt_list set
          provider = (select provider from calls where calls.id = receipt_list.id),
          status = (
            select case when error_code is null then 'ok' else 'error' end from calls where calls.id = receipt_list.id)
        where model is not null`,
    ),
    db.schema
      .createTable('receipt_counts')
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('span', 'bigint', (column) => column.notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('profile', key, (column) => column.notNull())
      .addColumn('purpose', key, (column) => column.notNull())
      .addColumn('provider', key, (column) => column.notNull())
      .addColumn('status', key, (column) => column.notNull())
      .addColumn('model', key, (column) => column.notNull())
      .addColumn('key', key, (column) => column.notNull())
      .addColumn('receipts', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('receipt_counts_pk', [
        'owner',
        'span',
        'at',
        'profile',
        'purpose',
        'provider',
        'status',
        'model',
        'key',
      ])
      .modifyEnd(clustered),
    ...[60, 3_600, 86_400].map((seconds) => {
      const span = sql.lit(seconds);
      const beginning = (column: string) => sql`substr(coalesce(${sql.ref(column)}, ''), 1, 50)`;
      return raw(
        db,
        sql`
          insert into receipt_counts (owner, span, at, profile, purpose, provider, status, model, key, receipts)
          select owner, ${span}, at / 1000 - at / 1000 % ${span}, ${beginning('profile')},
            case when purpose = 'inference' then purpose else '' end, ${beginning('provider')},
            ${beginning('status')}, ${beginning('model')}, ${beginning('key')}, count(*)
          from receipt_list group by 1, 2, 3, 4, 5, 6, 7, 8, 9`,
      );
    }),
  ],
};
