import { type RawBuilder, sql } from 'kysely';
import { namesOf, type RowSource, type Values } from './row-source.ts';
import type { Column } from './table.ts';

const ARRAYS: Readonly<Record<Column['type'], RawBuilder<unknown>>> = {
  text: sql`text[]`,
  integer: sql`bigint[]`,
  money: sql`bigint[]`,
  bytes: sql`bytea[]`,
};

/** Each statement takes all rows at once, as an array per column, since each statement costs a round trip. */
export const postgresRows: RowSource = {
  oneByOne: false,
  *batches(rows, columns) {
    if (rows.length === 0) return;
    const inserted = rows as readonly Values[];
    yield Object.fromEntries(
      columns.map(({ property }) => [property, inserted.map((row) => row[property])] as const),
    );
  },
  list: (columns, values, order) => sql`select * ${fromRows(columns, values)} ${inOrder(order)}`,
  from: fromRows,
  value: ({ name }) => sql.ref(`r.${name}`),
  isOneOf: (column, values) => sql`= any(${arrayOf(column, values)})`,
};

function fromRows(columns: readonly Column[], values: Values): RawBuilder<unknown> {
  const arrays = columns.map((column) => arrayOf(column, values));
  return sql`from unnest(${sql.join(arrays)}) as r (${namesOf(columns)})`;
}

function arrayOf({ property, type }: Column, values: Values): RawBuilder<unknown> {
  return sql`${values[property]}::${ARRAYS[type]}`;
}

/** Sorted by bytes, as the keys of tables are. */
function inOrder(columns: readonly Column[]): RawBuilder<unknown> {
  if (columns.length === 0) return sql``;
  const order = columns.map(({ name, type }) => {
    const column = sql.ref(`r.${name}`);
    return type === 'text' ? sql`${column} collate "C"` : column;
  });
  return sql`order by ${sql.join(order)}`;
}
