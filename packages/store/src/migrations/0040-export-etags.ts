import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/** The names by which the bytes of exports can be asked for again. */
export const exportEtags: ChangedSchema = {
  name: 'export-etags',
  statements: (db, { key }) => [
    db.schema.alterTable('room_exports').addColumn('etag', key),
    raw(db, sql`create index room_exports_etag on room_exports (tenant, etag) where etag is not null`),
  ],
};
