import { sql } from 'kysely';
import type { ChangedSchema } from './migration.ts';

/** What processes tell each other of models that rest, and how the calls of an API key are routed. */
export const routing: ChangedSchema = {
  name: 'routing',
  statements: ({ schema }, { key, clustered }) => [
    schema.alterTable('api_keys').addColumn('routing', 'text'),
    schema
      .createTable('model_rests')
      .addColumn('process', key, (column) => column.notNull())
      .addColumn('model', key, (column) => column.notNull())
      .addColumn('until', sql`double precision`, (column) => column.notNull())
      .addColumn('why', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('model_rests_pk', ['process', 'model'])
      .modifyEnd(clustered),
  ],
};
