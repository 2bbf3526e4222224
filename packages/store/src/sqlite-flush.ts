import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { TallyError } from '@tallystick/core';

const dataSync = promisify(fdatasync);

/**
 * Flushes SQLite's write-ahead log, whichever process wrote it, on one of Node's threads: the event loop goes on meanwhile. What is
 * committed during a flush shares the next one.
 */
export class SqliteFlush {
  /** Null for a database in memory. */
  readonly #log: number | null;
  readonly #dataSync: (log: number) => Promise<void>;
  /** After it nobody knows what is on disk (wiki.postgresql.org/wiki/Fsync_Errors). */
  #failure: TallyError | null = null;
  /** After a failure it stays rejected. */
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  /**
   * @param file the database, to which a connection is open, so that there is a log: the file itself and no link to it, since SQLite
   * puts the log beside the file; null if it is in memory
   */
  constructor(file: string | null, flush = dataSync) {
    this.#dataSync = flush;
    this.#log = file === null ? null : openSync(`${file}-wal`, 'r+');
  }

  /** Flushes what is written by now. */
  begin(): void {
    if (this.#log === null || this.#next !== null) return;
    if (this.#running === null) this.#running = this.#flush(this.#log);
    else this.#next = this.#running.then(() => this.#flush(this.#log as number));
  }

  /**
   * Resolves when everything is on disk that was written before the last `begin`; null if it is.
   * @throws {TallyError} `unavailable` once a flush has failed
   */
  get ended(): Promise<void> | null {
    return this.#next ?? this.#running;
  }

  /** @throws {TallyError} `unavailable` once a flush has failed */
  requireSound(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  /** Call it when the connection is closed and no flush is under way. */
  close(): void {
    if (this.#log !== null) closeSync(this.#log);
  }

  async #flush(log: number): Promise<void> {
    try {
      await this.#dataSync(log);
    } catch (cause) {
      const message =
        'The disk did not take what the database wrote. Stop the service, mend the disk, and mount its file system again before you start.';
      this.#failure = new TallyError('unavailable', message, { cause });
      throw this.#failure;
    }
    this.#running = this.#next;
    this.#next = null;
  }
}
