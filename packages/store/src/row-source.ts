import { type RawBuilder, sql } from 'kysely';
import type { Column } from './table.ts';

/** Values of a statement by their properties: of one row, or an array for each column. */
export type Values = Readonly<Record<string, unknown>>;

/** How a database takes the rows of one statement. SQLite runs it once for each row; PostgreSQL once for all. */
export interface RowSource {
  /** Whether each run has one row, so that the number of changed rows tells about it. */
  readonly oneByOne: boolean;
  /** The values of each run. None where there is no row. */
  readonly batches: (rows: readonly object[], columns: readonly Column[]) => Iterable<Values>;
  /** Lists the rows, for `insert` and `in`, in the order of the columns `order` where there are more of them. */
  list(columns: readonly Column[], values: Values, order: readonly Column[]): RawBuilder<unknown>;
  /** Follows the `set` of an update that reads the rows. */
  from(columns: readonly Column[], values: Values): RawBuilder<unknown>;
  /** One column of the rows, in such an update. */
  value(column: Column, values: Values): RawBuilder<unknown>;
  /** Follows a column: whether it has one of the values. */
  isOneOf(column: Column, values: Values): RawBuilder<unknown>;
}

/** The columns, as a statement lists them. */
export function namesOf(columns: readonly Column[]): RawBuilder<unknown> {
  return sql.join(columns.map(({ name }) => sql.ref(name)));
}
