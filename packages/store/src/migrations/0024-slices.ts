import type { ChangedSchema } from './migration.ts';

/** Reservations that processes give to calls out of memory. */
export const slices: ChangedSchema = {
  name: 'slices',
  statements: ({ schema }) => [schema.alterTable('reservations').addColumn('slice', 'text')],
};
