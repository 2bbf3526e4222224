import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Schema } from '../schema.ts';
import { sessionList } from './0032-session-list.ts';

const compiler = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const types = { key: sql`text`, bytes: sql`blob`, ordinal: sql`integer`, clustered: sql`without rowid` };

it('lists the sessions of the calls and receipts that were listed before it', () => {
  const signed = '5f0c1b2a9d8e7f60112233445566778a';
  const db = new DatabaseSync(':memory:');
  db.exec(`
    create table calls (owner text, key text, session text, at integer, error_code text, cost integer);
    create table receipt_list (
      owner text, key text, session text, at integer, purpose text, cost integer, expires_at integer);
    insert into calls values
      ('a', 'k', 'run 1', 20, null, 3), ('a', null, 'run 1', 10, 'x', 4), ('a', 'k', null, 5, null, 9),
      ('b', 'k', '${signed}', 30, null, 1);
    insert into receipt_list values
      ('b', 'k', '${signed}', 40, 'tool_call', 5, 99), ('b', 'k', '${signed}', 15, 'session', null, 98),
      ('b', 'k', 'named by an envelope, 32 long...', 15, 'tool_call', 5, 99), ('b', null, '0123', 1, null, 1, 99),
      ('c', null, '${signed}', 50, 'reference', 5, 97);`);
  for (const step of sessionList.statements(compiler, types)) db.exec(step.compile().sql);
  const rows = db.prepare('select * from session_list order by owner, key, id').all();
  const never = 253_402_300_799;
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['a', '', 'run 1', 10, 20, 2, 1, 0, 0, 7, never],
    ['a', 'k', 'run 1', 20, 20, 1, 0, 0, 0, 3, never],
    ['b', '', signed, 15, 40, 1, 0, 2, 1, 6, never],
    ['b', 'k', signed, 15, 40, 1, 0, 2, 1, 6, never],
    ['c', '', signed, 50, 50, 0, 0, 1, 0, 5, 97],
  ]);
  db.close();
});
