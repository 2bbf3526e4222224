import { bind, type Statement } from './statement.ts';

/** One statement to run, and whether its rows are needed. */
interface Step {
  readonly sql: string;
  readonly values: unknown[];
  readonly wantsRows: boolean;
}

export interface StepResult {
  readonly rows: unknown[];
  readonly changed: number;
}

/**
 * Database work that says what to run but not how to wait for it, so that it is written once: the embedded database
 * runs all steps of a transaction at once, and a database behind a socket awaits each.
 */
export type Work<T> = Generator<Step, T, StepResult>;

/** A step that returns the number of changed rows. */
export function* run<Values>(statement: Statement<Values, unknown>, values: Values): Work<number> {
  const { changed } = yield { sql: statement.sql, values: bind(statement, values), wantsRows: false };
  return changed;
}

/** A step that returns all rows. */
export function* all<Values, Row>(statement: Statement<Values, Row>, values: Values): Work<Row[]> {
  const { rows } = yield { sql: statement.sql, values: bind(statement, values), wantsRows: true };
  return rows as Row[];
}
