import type { Schema } from './schema.ts';

/** How a column stores its values. `money` is a 64-bit integer that may exceed 2^53, so it is read as text. */
type ColumnType = 'text' | 'integer' | 'money' | 'bytes';

/** One column of a table, and the property of its row type. */
export interface Column {
  readonly property: string;
  readonly name: string;
  readonly type: ColumnType;
}

/** Describes a table, or some of its columns. The statements about many rows are made from it. */
export interface Table<Row> {
  readonly name: keyof Schema;
  /** The columns of the primary key, in the key's order. */
  readonly key: readonly Column[];
  readonly columns: readonly Column[];
  /** For the type alone: no description has this member. */
  readonly row?: Row;
}

type TypeOf<Value> = [Value] extends [bigint | null | undefined]
  ? 'money'
  : [Value] extends [number | null | undefined]
    ? 'integer'
    : [Value] extends [Uint8Array | null | undefined]
      ? 'bytes'
      : 'text';

type Property<Row> = keyof Row & string;

/**
 * Describes a table by the type of each property of its rows. A column is named like its property in snake case, unless
 * `names` gives another name.
 */
export function table<Row>(
  name: keyof Schema,
  key: readonly Property<Row>[],
  types: { readonly [P in Property<Row>]-?: TypeOf<Row[P]> },
  names?: Readonly<Partial<Record<Property<Row>, string>>>,
): Table<Row> {
  const columns = (Object.keys(types) as Property<Row>[]).map((property) => ({
    property,
    name: names?.[property] ?? property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    type: types[property],
  }));
  return { name, key: key.flatMap((one) => columns.find(({ property }) => property === one) ?? []), columns };
}

/** The same table with only the columns of these properties. */
export function pick<Row, P extends Property<Row>>(
  { columns, ...rest }: Table<Row>,
  properties: readonly P[],
): Table<Pick<Row, P>> {
  const selected = new Set<string>(properties);
  const { name, key } = rest;
  return { name, key, columns: columns.filter(({ property }) => selected.has(property)) };
}
