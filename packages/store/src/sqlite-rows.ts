import { sql } from 'kysely';
import type { RowSource, Values } from './row-source.ts';
import type { Column } from './table.ts';

/** In process a statement costs little, so each row has its own. */
export const sqliteRows: RowSource = {
  oneByOne: true,
  batches: (rows) => rows as Iterable<Values>,
  list: (columns, values) => sql`values (${sql.join(columns.map((column) => valueOf(column, values)))})`,
  from: () => sql``,
  value: valueOf,
  isOneOf: (column, values) => sql`= ${valueOf(column, values)}`,
};

function valueOf({ property }: Column, values: Values) {
  return sql`${values[property]}`;
}
