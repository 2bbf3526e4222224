import type { StreamHeadRow, StreamRound, StreamRow, StreamStore } from '@tallystick/receipts';
import { all, run } from './database-work.ts';
import { pages } from './pages.ts';
import type { SqlDatabase } from './sql-database.ts';

const PAGE = 200;

/** A {@link StreamStore} on a SQL database. */
export class SqlStreamStore implements StreamStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async open(row: StreamRow): Promise<void> {
    await this.#database.transaction(() => run(this.#database.queries.insertStream, row));
  }

  async get(id: string): Promise<StreamRow | null> {
    const [row] = await this.#database.read(all(this.#database.queries.getStream, { id }));
    return row ?? null;
  }

  grown(): AsyncIterable<StreamRow> {
    const { queries, read } = this.#database;
    return pages(PAGE, (last: StreamRow | undefined) =>
      read(all(queries.pageOfGrownStreams, { after: last?.id ?? '', limit: PAGE })),
    );
  }

  rounds(stream: string, first: number, limit: number): Promise<StreamRound[]> {
    const { queries, read } = this.#database;
    return read(all(queries.pageOfStreamRounds, { stream, first, limit }));
  }

  async newestHead(stream: string): Promise<StreamHeadRow | null> {
    const [row] = await this.#database.read(all(this.#database.queries.newestStreamHead, { stream }));
    return row ?? null;
  }

  async putHead(row: StreamHeadRow): Promise<'stored' | 'stale'> {
    const stored = await this.#database.transaction(() => run(this.#database.queries.insertStreamHead, row));
    return stored === 1 ? 'stored' : 'stale';
  }

  heads(stream: string, after: number, limit: number): Promise<StreamHeadRow[]> {
    const { queries, read } = this.#database;
    return read(all(queries.pageOfStreamHeads, { stream, after, limit }));
  }

  async headBefore(stream: string, at: number, size: number): Promise<StreamHeadRow | null> {
    const { queries, read } = this.#database;
    const [row] = await read(all(queries.streamHeadBefore, { stream, at, size }));
    return row ?? null;
  }
}
