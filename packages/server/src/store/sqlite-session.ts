import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { bind, type Session, type Statement } from './statement.ts';

/** Runs statements on one connection, each prepared once. */
export class SqliteSession implements Session {
  readonly #connection: DatabaseSync;
  readonly #prepared = new Map<Statement<never, unknown>, StatementSync>();

  constructor(connection: DatabaseSync) {
    this.#connection = connection;
  }

  run<Values>(statement: Statement<Values, unknown>, values: Values): number {
    const { changes } = this.#prepare(statement).run(...(bind(statement, values) as SQLInputValue[]));
    return Number(changes);
  }

  all<Values, Row>(statement: Statement<Values, Row>, values: Values): Row[] {
    return this.#prepare(statement).all(...(bind(statement, values) as SQLInputValue[])) as Row[];
  }

  #prepare<Values>(statement: Statement<Values, unknown>): StatementSync {
    let prepared = this.#prepared.get(statement);
    if (prepared === undefined) {
      prepared = this.#connection.prepare(statement.sql);
      this.#prepared.set(statement, prepared);
    }
    return prepared;
  }
}
