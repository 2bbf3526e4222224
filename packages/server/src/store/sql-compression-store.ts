import { type CompressionStore, MAX_NOTES, type Note } from '@tallystick/inference';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';
import { raw, statement } from './statement.ts';
import { all, run, type Work } from './work.ts';

const PURGE_LIMIT = 1_000;

/** A {@link CompressionStore} on a SQL database. */
export class SqlCompressionStore implements CompressionStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async recall(account: string, conversation: string, now: number): Promise<Map<string, string>> {
    const { notesOf } = this.#database.queries;
    const rows = await this.#database.read(all(notesOf, { account, conversation, now }));
    return new Map(rows.map(({ key, value }) => [key, value]));
  }

  remember(
    account: string,
    conversation: string,
    notes: readonly Note[],
    time: { readonly now: number; readonly expiresAt: number },
  ): Promise<Map<string, string>> {
    const work = writeNotes(this.#database.queries, { account, conversation, ...time }, notes);
    return this.#database.transaction(work, 'relaxed');
  }

  purge(now: number, limit = PURGE_LIMIT): Promise<number> {
    const { purgeNotes } = this.#database.queries;
    return this.#database.transaction(run(purgeNotes, { now, limit }), 'relaxed');
  }
}

/** Where a note stands, and when. */
export interface NotePlace {
  readonly account: string;
  readonly conversation: string;
  readonly now: number;
  readonly expiresAt: number;
}

/** In the order of their keys, so that no two writers wait for each other. */
function* writeNotes(
  { putNote, trimNotes }: CompressionQueries,
  place: NotePlace,
  notes: readonly Note[],
): Work<Map<string, string>> {
  const standing = new Map<string, string>();
  for (const note of [...notes].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const [row] = yield* all(putNote, { ...place, ...note });
    if (row !== undefined) standing.set(note.key, row.value);
  }
  yield* run(trimNotes, { account: place.account });
  return standing;
}

export function compressionQueries(db: Kysely<Schema>, skipLocked: RawBuilder<unknown>) {
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

type CompressionQueries = ReturnType<typeof compressionQueries>;
