import type { ChangedSchema } from './migration.ts';

/** API keys whose calls have prompt and answer kept unless a call says otherwise. */
export const keysThatKeep: ChangedSchema = {
  name: 'keys that keep',
  statements: ({ schema }) => [
    schema.alterTable('api_keys').addColumn('keep', 'bigint', (column) => column.notNull().defaultTo(0)),
  ],
};
