import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Client } from 'pg';

export type Row = Readonly<Record<string, string | number | null | Uint8Array>>;

/** The tables of a database of either kind, behind the service's back. */
export interface Tables {
  names(): Promise<string[]>;
  columns(table: string): Promise<string[]>;
  /** The rows of a table, each as the text of the values of these columns, sorted. */
  read(table: string, columns: readonly string[]): Promise<string[]>;
  insert(table: string, row: Row): Promise<void>;
}

export function sqliteTables(db: DatabaseSync): Tables {
  const texts = (query: string, ...values: string[]): string[] =>
    db
      .prepare(query)
      .all(...values)
      .map(({ text }) => String(text));
  return {
    names: async () => texts(`select name as text from sqlite_master where type = 'table' order by name`),
    columns: async (table) => texts('select name as text from pragma_table_info(?) order by cid', table),
    read: async (table, columns) => {
      const row = columns.map((name) => `quote("${name}")`).join(` || ',' || `);
      return texts(`select ${row} as text from "${table}"`).toSorted();
    },
    insert: async (table, row) => {
      db.prepare(insertion(table, row, () => '?')).run(...(Object.values(row) as SQLInputValue[]));
    },
  };
}

export function postgresTables(client: Client): Tables {
  const texts = async (query: string, ...values: string[]): Promise<string[]> =>
    (await client.query<{ text: string }>(query, values)).rows.map(({ text }) => text);
  return {
    names: () =>
      texts(
        `select table_name as text from information_schema.tables where table_schema = 'public' order by 1`,
      ),
    columns: (table) =>
      texts(
        `select column_name as text from information_schema.columns where table_schema = 'public' and table_name = $1 order by ordinal_position`,
        table,
      ),
    read: async (table, columns) => {
      const row = columns.map((name) => `coalesce("${name}"::text, 'NULL')`).join(` || ',' || `);
      return (await texts(`select ${row} as text from public."${table}"`)).toSorted();
    },
    insert: async (table, row) => {
      await client.query(
        insertion(`public"."${table}`, row, (at) => `$${at}`),
        Object.values(row),
      );
    },
  };
}

function insertion(table: string, row: Row, parameter: (at: number) => string): string {
  const columns = Object.keys(row).map((name) => `"${name}"`);
  return `insert into "${table}" (${columns.join(', ')}) values (${columns.map((_, at) => parameter(at + 1)).join(', ')})`;
}
