import { type RawBuilder, sql } from 'kysely';
import { all, run, send, type Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { namesOf, type RowSource, type Values } from './row-source.ts';
import { type Compiler, raw, type Statement, statement } from './statement.ts';
import type { Column, Table } from './table.ts';

type Key = string | Uint8Array;

type Write<Row> = (rows: readonly Row[]) => Work<void>;
type Read<Given, Row> = (given: readonly Given[]) => Work<Row[]>;

/**
 * Makes the statements about many rows from the descriptions of tables, for either database. Rows that others may lock
 * are locked in the order of their keys, so that no two transactions wait for each other.
 */
export class Bulk {
  readonly #db: Compiler;
  readonly #dialect: Dialect;

  constructor(db: Compiler, dialect: Dialect) {
    this.#db = db;
    this.#dialect = dialect;
  }

  /** Inserts rows whose keys must be new. */
  insert<Row extends object>(table: Table<Row>): Write<Row> {
    return this.#write(table.columns, (v) => insertion(table, this.#dialect.rows.list(table.columns, v, [])));
  }

  /** Inserts rows. `otherwise` says what to do with a row whose key exists, as in `on conflict (…) do …`. */
  insertOr<Row extends object>(table: Table<Row>, otherwise: RawBuilder<unknown>): Write<Row> {
    return this.#write(table.columns, (v) => this.#insertionOr(table, otherwise, v));
  }

  /** As `insertOr`; returns how many rows were inserted or changed. */
  countInsertedOr<Row extends object>(
    table: Table<Row>,
    otherwise: RawBuilder<unknown>,
  ): (rows: readonly Row[]) => Work<number> {
    const query = this.#compile((v) => this.#insertionOr(table, otherwise, v));
    const { batches } = this.#dialect.rows;
    return function* (rows) {
      let changed = 0;
      for (const values of batches(rows, table.columns)) changed += yield* run(query, values);
      return changed;
    };
  }

  /** Inserts the rows whose keys are new. Returns the first column of those keys. */
  insertNew<Row extends object>(table: Table<Row>): (rows: readonly Row[]) => Work<Set<string>> {
    const { property, name } = keyOf(table);
    const { oneByOne } = this.#dialect.rows;
    if (oneByOne) {
      const insert = this.#compile((v) => this.#insertionOr(table, sql`nothing`, v));
      return function* (rows) {
        const inserted = new Set<string>();
        for (const row of rows as readonly Values[]) {
          if ((yield* run(insert, row)) === 1) inserted.add(row[property] as string);
        }
        return inserted;
      };
    }
    const read = this.#read<Row, { key: string }>(
      table.columns,
      (v) => sql`${this.#insertionOr(table, sql`nothing`, v)} returning ${sql.ref(name)} as key`,
    );
    return function* (rows) {
      return new Set((yield* read(rows)).map(({ key }) => key));
    };
  }

  /** Inserts rows, or adds them to the existing rows of the same keys. */
  add<Row extends object>(table: Table<Row>): Write<Row> {
    const sums = valuesOf(table).map(
      ({ name }) => sql`${sql.ref(name)} = ${ref(table, name)} + ${sql.ref(`excluded.${name}`)}`,
    );
    return this.insertOr(table, sql`update set ${sql.join(sums)}`);
  }

  /** Sets the columns beside the key. Nobody else may write the rows. */
  update<Row extends object>(table: Table<Row>): Write<Row> {
    return this.#change(table, (_, value) => value);
  }

  /** Adds to the columns beside the key. Nobody else may write the rows. */
  increase<Row extends object>(table: Table<Row>): Write<Row> {
    return this.#change(table, ({ name }, value) => sql`${ref(table, name)} + ${value}`);
  }

  /** Deletes rows by the first column of the key. */
  remove<Row extends object>(table: Table<Row>): (keys: readonly Key[]) => Work<void> {
    const key = keyOf(table);
    const write = this.#write<object>(
      [key],
      (v) =>
        sql`delete from ${sql.table(table.name)} where ${sql.ref(key.name)} ${this.#dialect.rows.isOneOf(key, v)}`,
    );
    return function* (keys) {
      yield* write(keys.map((value) => ({ [key.property]: value })));
    };
  }

  /** Deletes the rows that equal a given row in every described column. */
  removeEqual<Row extends object>(table: Table<Row>): Write<Row> {
    const { name, key, columns } = table;
    const { rows, forUpdate, soleWriter } = this.#dialect;
    const keys = namesOf(key);
    return this.#write(columns, (v) => {
      if (soleWriter) return sql`delete from ${sql.table(name)} where ${matching(table, columns, rows, v)}`;
      const list = rows.list(columns, v, []);
      return sql`
        delete from ${sql.table(name)} where (${keys}) in (
          select ${keys} from ${sql.table(name)} where (${namesOf(columns)}) in (${list})
          order by ${keys} ${forUpdate})`;
    });
  }

  /** Reads rows by the first column of their key, and keeps others from writing them until the transaction ends. */
  lock<Row extends object>(table: Table<Row>): Read<Key, Row> {
    const rowFrom = readerOf(table);
    const column = keyOf(table);
    const key = ref(table, column.name);
    const { rows, forUpdate } = this.#dialect;
    const read = this.#read<object, Values>(
      [column],
      (v) => sql`
        select ${selection(table)} from ${sql.table(table.name)}
        where ${key} ${rows.isOneOf(column, v)} order by ${key} ${forUpdate}`,
    );
    return function* (keys) {
      return (yield* read(keys.map((value) => ({ [column.property]: value })))).map(rowFrom);
    };
  }

  /** Locks rows as `lock` does, and first inserts missing ones if the database can only lock what exists. */
  hold<Row extends object>(table: Table<Row>): Read<Row, Row> {
    const { soleWriter } = this.#dialect;
    const key = keyOf(table);
    if (soleWriter) {
      const lock = this.lock(table);
      return (rows) => lock(rows.map((row) => (row as Record<string, unknown>)[key.property] as Key));
    }
    // This update changes nothing: it locks an existing row, and so returns it.
    const same = sql.join(valuesOf(table).map(({ name }) => sql`${sql.ref(name)} = ${ref(table, name)}`));
    const rowFrom = readerOf(table);
    const read = this.#read<Row, Values>(
      table.columns,
      (v) => sql`${this.#insertionOr(table, sql`update set ${same}`, v)} returning ${selection(table)}`,
    );
    return function* (rows) {
      return (yield* read(rows)).map(rowFrom);
    };
  }

  /** Deletes the rows whose keys a query selects, and returns them. */
  take<V, Row extends object>(
    table: Table<Row>,
    keys: (values: V) => RawBuilder<unknown>,
  ): (values: V) => Work<Row[]> {
    const rowFrom = readerOf(table);
    const query = statement((v: V) =>
      raw(
        this.#db,
        sql<Values>`
          delete from ${sql.table(table.name)} where ${sql.ref(keyOf(table).name)} in (${keys(v)})
          returning ${selection(table)}`,
      ),
    );
    return function* (values) {
      return (yield* all(query, values)).map(rowFrom);
    };
  }

  /** Runs a query about many values of one column; `build` gets the condition that follows the column. */
  lookUp<Row extends object, P extends keyof Row & string, Found>(
    { columns }: Table<Row>,
    property: P,
    build: (isOneOf: RawBuilder<unknown>) => RawBuilder<Found>,
  ): Read<Row[P], Found> {
    const column = columns.find((one) => one.property === property);
    if (column === undefined) throw new TypeError(`No column is described for ${property}.`);
    const read = this.#read<object, Found>([column], (v) => build(this.#dialect.rows.isOneOf(column, v)));
    return (keys) => read(keys.map((value) => ({ [property]: value })));
  }

  #insertionOr<Row>(table: Table<Row>, otherwise: RawBuilder<unknown>, values: Values): RawBuilder<unknown> {
    const { columns, key } = table;
    const list = this.#dialect.rows.list(columns, values, key);
    return sql`${insertion(table, list)} on conflict (${namesOf(key)}) do ${otherwise}`;
  }

  #change<Row extends object>(
    table: Table<Row>,
    to: (column: Column, value: RawBuilder<unknown>) => RawBuilder<unknown>,
  ): Write<Row> {
    const { rows } = this.#dialect;
    return this.#write(table.columns, (v) => {
      const changes = valuesOf(table).map(
        (column) => sql`${sql.ref(column.name)} = ${to(column, rows.value(column, v))}`,
      );
      return sql`
        update ${sql.table(table.name)} set ${sql.join(changes)} ${rows.from(table.columns, v)}
        where ${matching(table, table.key, rows, v)}`;
    });
  }

  #write<Row extends object>(
    columns: readonly Column[],
    build: (values: Values) => RawBuilder<unknown>,
  ): Write<Row> {
    const query = this.#compile(build);
    const { batches } = this.#dialect.rows;
    return function* (rows) {
      for (const values of batches(rows, columns)) yield* send(query, values);
    };
  }

  #read<Given extends object, Row>(
    columns: readonly Column[],
    build: (values: Values) => RawBuilder<Row>,
  ): Read<Given, Row> {
    const query = this.#compile(build);
    const { batches } = this.#dialect.rows;
    return function* (given) {
      const found: Row[] = [];
      for (const values of batches(given, columns)) {
        for (const row of yield* all(query, values)) found.push(row);
      }
      return found;
    };
  }

  #compile<Row>(build: (values: Values) => RawBuilder<Row>): Statement<Values, Row> {
    return statement((values: Values) => raw(this.#db, build(values)));
  }
}

function insertion<Row>({ name, columns }: Table<Row>, list: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into ${sql.table(name)} (${namesOf(columns)}) ${list}`;
}

/** Selects the columns under the names of their properties. */
function selection<Row>({ columns }: Table<Row>): RawBuilder<unknown> {
  return sql.join(
    columns.map(({ property, name, type }) => {
      const column = sql.ref(name);
      return sql`${type === 'money' ? sql`cast(${column} as text)` : column} as ${sql.ref(property)}`;
    }),
  );
}

/** Converts what {@link selection} reads to rows; money comes as text, or null where there is none. */
function readerOf<Row>({ columns }: Table<Row>): (read: Values) => Row {
  const amounts = columns.flatMap(({ property, type }) => (type === 'money' ? property : []));
  if (amounts.length === 0) return (read) => read as Row;
  return (read) => {
    const row: Record<string, unknown> = { ...read };
    for (const property of amounts) {
      const amount = row[property] as string | null;
      row[property] = amount === null ? null : BigInt(amount);
    }
    return row as Row;
  };
}

/** The condition that a row of the table equals a given one in these columns. */
function matching<Row>(
  table: Table<Row>,
  columns: readonly Column[],
  rows: RowSource,
  values: Values,
): RawBuilder<unknown> {
  const equal = columns.map((column) => sql`${ref(table, column.name)} = ${rows.value(column, values)}`);
  return sql.join(equal, sql` and `);
}

function keyOf<Row>({ name, key: [first] }: Table<Row>): Column {
  if (first === undefined) throw new TypeError(`The table ${name} is described without a key.`);
  return first;
}

function valuesOf<Row>({ key, columns }: Table<Row>): Column[] {
  return columns.filter((column) => !key.includes(column));
}

function ref<Row>(table: Table<Row>, column: string): RawBuilder<unknown> {
  return sql.ref(`${table.name}.${column}`);
}
