import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Work } from './database-work.ts';
import type { Durability } from './sql-database.ts';
import type { SqliteFlush } from './sqlite-flush.ts';

/** Milliseconds that a transaction waits for the write lock while another process has it. */
export const BUSY_MS = 5_000;

/** SQLite's result code where another connection has the lock (sqlite.org/rescode.html#busy). */
export const BUSY = 5;

/** Of `PRAGMA auto_vacuum`. */
const INCREMENTAL = 2;

interface Done<T> {
  readonly value: T;
}

/**
 * Runs statements on one connection, each prepared once. The connection does not flush its commits (`synchronous = NORMAL`): they are
 * flushed here, on another thread, and nothing that was read is told before all that it may rest on is on disk.
 */
export class SqliteSession {
  readonly #connection: DatabaseSync;
  readonly #flush: SqliteFlush;
  /** What others had committed when the last flush began, as `PRAGMA data_version` counts it. */
  #flushed: number;
  readonly #prepared = new Map<string, StatementSync>();
  #outside: number | null = null;
  /** Transactions that wait for the write lock. */
  #waiting = 0;
  /** Settles with the last of them. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: DatabaseSync, flush: SqliteFlush) {
    this.#connection = connection;
    this.#flush = flush;
    this.#flushed = this.#pragma('data_version');
  }

  /** Runs `task`, which only reads. What other connections have committed may be no more durable than that of this one. */
  async read<T>(task: () => T): Promise<T> {
    try {
      return task();
    } finally {
      await this.#told();
    }
  }

  /** Runs every step of some work without letting anything run in between. */
  perform<T>(work: Work<T>): T {
    let step = work.next();
    while (step.done !== true) {
      const { sql, values, wantsRows } = step.value;
      step = work.next(
        wantsRows
          ? { rows: this.#all(sql, values), changed: 0 }
          : { rows: [], changed: this.#run(sql, values) },
      );
    }
    return step.value;
  }

  /**
   * Runs `task` in a transaction that is durable when the promise resolves, and rolled back when it throws. A `relaxed` one is not
   * flushed to disk by itself: the next durable one flushes both.
   *
   * It runs at once where no other process has the write lock. Otherwise it waits its turn without stopping the event loop: SQLite itself would
   * sleep, each time longer, for many times what a transaction takes.
   */
  async transaction<T>(task: () => T, durability: Durability = 'durable'): Promise<T> {
    const deadline = performance.now() + BUSY_MS;
    const attempt = (): Done<T> | null => this.#attempt(task, durability, deadline);
    try {
      const done = this.#waiting === 0 ? attempt() : null;
      return (done ?? (await this.#inTurn(attempt))).value;
    } finally {
      await this.#told();
    }
  }

  /** Tries until it is done, after those that wait already. */
  async #inTurn<T>(attempt: () => Done<T> | null): Promise<Done<T>> {
    const turn = retried(attempt, this.#last);
    this.#waiting += 1;
    this.#last = turn.then(
      () => this.#waiting--,
      () => this.#waiting--,
    );
    return turn;
  }

  /**
   * See `SqlDatabase`. Own commits don't change it (sqlite.org/pragma.html#pragma_data_version). It is read once in a turn of the event
   * loop: what is asked for in one turn was asked for at once.
   */
  outsideVersion(): number {
    if (this.#outside === null) {
      this.#outside = this.#pragma('data_version');
      setImmediate(() => {
        this.#outside = null;
      });
    }
    return this.#outside;
  }

  /** `null`, and nothing is done, while another process has the write lock. After the deadline that is thrown as SQLite's error. */
  #attempt<T>(task: () => T, durability: Durability, deadline: number): Done<T> | null {
    // Others would see what is written now, such as the renewal of a lease, though this process tells nobody of it.
    this.#flush.requireSound();
    if (!this.#begin(deadline)) return null;
    const value = this.#finish(task);
    if (durability === 'durable') this.#flush.begin();
    return { value };
  }

  /** Resolves when everything that can be seen now is on disk. */
  async #told(): Promise<void> {
    const version = this.#pragma('data_version');
    if (version !== this.#flushed) {
      this.#flushed = version;
      this.#flush.begin();
    }
    await this.#flush.ended;
  }

  /** Takes the write lock, unless another process has it. */
  #begin(deadline: number): boolean {
    this.#connection.exec('PRAGMA busy_timeout = 0');
    try {
      this.#connection.exec('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (resultCode(error) !== BUSY || performance.now() > deadline) throw error;
      return false;
    } finally {
      this.#connection.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    }
  }

  #finish<T>(task: () => T): T {
    try {
      const result = task();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Cuts free pages off the file, within a transaction, if more than one in `share` is free: at most `most`, and how many they were. A file
   * that an earlier release made can't be cut, and gives none (sqlite.org/pragma.html#pragma_auto_vacuum).
   */
  giveBack(most: number, share: number): number {
    if (this.#pragma('auto_vacuum') !== INCREMENTAL) return 0;
    const pages = Math.min(
      most,
      this.#pragma('freelist_count') - Math.ceil(this.#pragma('page_count') / share),
    );
    if (pages <= 0) return 0;
    this.#connection.exec(`PRAGMA incremental_vacuum(${pages})`);
    return pages;
  }

  #pragma(name: string): number {
    return Number(this.#prepare(`PRAGMA ${name}`).get()?.[name]);
  }

  #run(sql: string, values: unknown[]): number {
    return Number(this.#prepare(sql).run(...(values as SQLInputValue[])).changes);
  }

  #all(sql: string, values: unknown[]): unknown[] {
    return this.#prepare(sql).all(...(values as SQLInputValue[]));
  }

  #prepare(sql: string): StatementSync {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.#connection.prepare(sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }
}

async function retried<T>(attempt: () => Done<T> | null, before: Promise<unknown>): Promise<Done<T>> {
  await before;
  for (;;) {
    const done = attempt();
    if (done !== null) return done;
    await setTimeout(1);
  }
}

/** SQLite's primary result code of an error (sqlite.org/rescode.html). */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
