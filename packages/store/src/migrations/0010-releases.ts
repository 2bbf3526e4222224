import type { ChangedSchema } from './migration.ts';

/** Records with each version which release applied it, and what a release must know to work on the database since then. */
export const releases: ChangedSchema = {
  name: 'releases',
  statements: ({ schema }) => [
    schema.alterTable('schema_migrations').addColumn('release', 'text'),
    schema.alterTable('schema_migrations').addColumn('needs', 'bigint'),
  ],
};
