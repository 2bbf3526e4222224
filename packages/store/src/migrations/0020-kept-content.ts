import type { ChangedSchema } from './migration.ts';

/** Prompts and answers that callers have kept, encrypted. */
export const keptContent: ChangedSchema = {
  name: 'kept-content',
  statements: ({ schema }, { key, bytes }) => [
    schema
      .createTable('call_contents')
      .addColumn('id', key, (column) => column.notNull().primaryKey())
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('key', key)
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('sealed', bytes, (column) => column.notNull()),
    schema.createIndex('call_contents_expiry').on('call_contents').column('expires_at'),
  ],
};
