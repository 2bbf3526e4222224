import { sql } from 'kysely';
import { raw } from '../statement.ts';
import type { ChangedSchema } from './migration.ts';

/**
 * Adds sums of compression for everybody, by day, so that no request adds up all subjects. Older rows were written only
 * for calls that compression changed.
 */
export const compressionOfEverybody: ChangedSchema = {
  name: 'compression-of-everybody',
  statements: (db) => [
    db.schema
      .alterTable('compression_days')
      .addColumn('changed_calls', 'bigint', (column) => column.notNull().defaultTo(0)),
    raw(db, sql`update compression_days set changed_calls = calls`),
    raw(
      db,
      sql`
        insert into compression_days (subject, day, calls, changed_calls, tokens_before, tokens_after,
          lost_cache_tokens, saving, share)
        select '~', day, sum(calls), sum(changed_calls), sum(tokens_before), sum(tokens_after),
          sum(lost_cache_tokens), sum(saving), sum(share)
        from compression_days group by day`,
    ),
    raw(
      db,
      sql`
        insert into compression_method_days (subject, day, method, calls, tokens)
        select '~', day, method, sum(calls), sum(tokens)
        from compression_method_days group by day, method`,
    ),
  ],
};
