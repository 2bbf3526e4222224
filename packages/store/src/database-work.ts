import { bind, type Statement } from './statement.ts';

/** One statement to run. */
interface Step {
  readonly sql: string;
  readonly values: unknown[];
  /** Whether the rows that the statement returns are needed. */
  readonly wantsRows: boolean;
  /** Whether the next step depends on the result of this one. */
  readonly isAwaited: boolean;
}

export interface StepResult {
  readonly rows: unknown[];
  readonly changed: number;
}

/**
 * Database work that says what to run but not how to wait for it, so that it is written once: the embedded database
 * runs all steps of a transaction at once, and a database behind a socket awaits each whose result is needed.
 */
export type Work<T> = Generator<Step, T, StepResult>;

/** A step that returns the number of changed rows. */
export function* run<Values>(statement: Statement<Values, unknown>, values: Values): Work<number> {
  const { changed } = yield {
    sql: statement.sql,
    values: bind(statement, values),
    wantsRows: false,
    isAwaited: true,
  };
  return changed;
}

/**
 * A step of a transaction whose result nobody needs. Later steps may be sent before it is answered; if it fails, so does the
 * transaction.
 */
export function* send<Values>(statement: Statement<Values, unknown>, values: Values): Work<void> {
  yield { sql: statement.sql, values: bind(statement, values), wantsRows: false, isAwaited: false };
}

/** A step that returns all rows. */
export function* all<Values, Row>(statement: Statement<Values, Row>, values: Values): Work<Row[]> {
  const { rows } = yield {
    sql: statement.sql,
    values: bind(statement, values),
    wantsRows: true,
    isAwaited: true,
  };
  return rows as Row[];
}
