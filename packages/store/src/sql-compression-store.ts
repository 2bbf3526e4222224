import type { CompressionStore, Note } from '@tallystick/inference';
import type { CompressionQueries, NotePlace } from './compression-queries.ts';
import { all, run, type Work } from './database-work.ts';
import type { SqlDatabase } from './sql-database.ts';

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
    const whose = { account, conversation, ...time };
    return this.#database.transaction(() => writeNotes(this.#database.queries, whose, notes), 'relaxed');
  }

  purge(now: number, limit = PURGE_LIMIT): Promise<number> {
    const { purgeNotes } = this.#database.queries;
    return this.#database.transaction(() => run(purgeNotes, { now, limit }), 'relaxed');
  }
}

/** Writes notes in the order of their keys, so that no two writers wait for each other. */
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
