import { type RawBuilder, sql } from 'kysely';
import type { Column } from './table.ts';

/** Values of a statement by property: of one row, or an array per column. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * How a database takes the rows of one statement. SQLite runs the statement once for each row; PostgreSQL runs it once
 * for all.
 */
export interface RowSource {
  /** Whether each run takes one row, so that its number of changed rows tells about that row. */
  readonly oneByOne: boolean;
  /** The values of each run; empty if there are no rows. */
  readonly batches: (rows: readonly object[], columns: readonly Column[]) => Iterable<Values>;
  /** Lists the rows for `insert` and `in`, sorted by the columns `order` if there are several rows. */
  list(columns: readonly Column[], values: Values, order: readonly Column[]): RawBuilder<unknown>;
  /** The `from` clause of an update that reads the rows. It follows `set`. */
  from(columns: readonly Column[], values: Values): RawBuilder<unknown>;
  /** One column of the rows in such an update. */
  value(column: Column, values: Values): RawBuilder<unknown>;
  /** The condition, to follow a column, that it has one of the values. */
  isOneOf(column: Column, values: Values): RawBuilder<unknown>;
}

/** The columns as a statement lists them. */
export function namesOf(columns: readonly Column[]): RawBuilder<unknown> {
  return sql.join(columns.map(({ name }) => sql.ref(name)));
}
