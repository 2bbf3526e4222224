import type { Note } from '@tallystick/inference';
import { MAX_NOTES } from '@tallystick/inference/rows';
import { type RawBuilder, sql } from 'kysely';
import { type Compiler, raw, statement } from './statement.ts';

/** The key of a compression note, and its time. */
export interface NotePlace {
  readonly account: string;
  readonly conversation: string;
  readonly now: number;
  readonly expiresAt: number;
}

export function compressionQueries(db: Compiler, skipLocked: RawBuilder<unknown>) {
  return {
    notesOf: statement((v: { account: string; conversation: string; now: number }) =>
      db
        .selectFrom('compression_notes')
        .select(['key', 'value'])
        .where('account', '=', v.account)
        .where('conversation', '=', v.conversation)
        .where('expires_at', '>', v.now),
    ),
    putNote: statement((v: NotePlace & Note) =>
      db
        .insertInto('compression_notes')
        .values({
          account: v.account,
          conversation: v.conversation,
          key: v.key,
          value: v.value,
          expires_at: v.expiresAt,
        })
        .onConflict((conflict) =>
          conflict.columns(['account', 'conversation', 'key']).doUpdateSet({
            value: sql<string>`case
              when compression_notes.expires_at <= ${v.now}
                or compression_notes.value = cast(${v.replaces} as text)
              then excluded.value else compression_notes.value end`,
            expires_at: sql<number>`excluded.expires_at`,
          }),
        )
        .returning('value'),
    ),
    trimNotes: statement((v: { account: string }) =>
      raw(
        db,
        sql`
          delete from compression_notes
          where account = ${v.account} and (expires_at, conversation, key) <= (
            select expires_at, conversation, key from compression_notes where account = ${v.account}
            order by expires_at desc, conversation desc, key desc limit 1 offset ${sql.lit(MAX_NOTES)})`,
      ),
    ),
    purgeNotes: statement((v: { now: number; limit: number }) =>
      raw(
        db,
        sql`
          delete from compression_notes where (account, conversation, key) in (
            select account, conversation, key from compression_notes where expires_at <= ${v.now}
            limit ${v.limit} ${skipLocked})`,
      ),
    ),
  };
}

export type CompressionQueries = ReturnType<typeof compressionQueries>;
