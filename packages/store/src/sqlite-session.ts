import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Work } from './database-work.ts';
import type { Durability } from './sql-database.ts';

/** Runs statements on one connection, each prepared once. */
export class SqliteSession {
  readonly #connection: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();
  #outside: number | null = null;

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
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
   * Runs `task` in a transaction that is durable on return, and rolled back when it throws. A `relaxed` one is not
   * flushed to disk by itself: the next durable one flushes both (sqlite.org/pragma.html#pragma_synchronous).
   */
  transaction<T>(task: () => T, durability: Durability = 'durable'): T {
    if (durability === 'durable') return this.#transaction(task);
    this.#connection.exec('PRAGMA synchronous = NORMAL');
    try {
      return this.#transaction(task);
    } finally {
      this.#connection.exec('PRAGMA synchronous = FULL');
    }
  }

  /**
   * See `SqlDatabase`. Own commits don't change it (sqlite.org/pragma.html#pragma_data_version). It is read once in a turn of the event
   * loop: what is asked for in one turn was asked for at once.
   */
  outsideVersion(): number {
    if (this.#outside === null) {
      this.#outside = Number(this.#prepare('PRAGMA data_version').get()?.['data_version']);
      setImmediate(() => {
        this.#outside = null;
      });
    }
    return this.#outside;
  }

  #transaction<T>(task: () => T): T {
    this.#connection.exec('BEGIN IMMEDIATE');
    try {
      const result = task();
      this.#connection.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      throw error;
    }
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
