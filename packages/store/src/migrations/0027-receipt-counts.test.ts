import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Schema } from '../schema.ts';
import { lists } from './0015-lists.ts';
import { calls } from './0016-calls.ts';
import { receiptCounts } from './0027-receipt-counts.ts';
import type { ChangedSchema } from './migration.ts';

const compiler = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const types = { key: sql`text`, bytes: sql`blob`, ordinal: sql`integer`, clustered: sql`without rowid` };

it('counts the receipts that are listed, and takes over how their calls ended', () => {
  const db = new DatabaseSync(':memory:');
  const migrate = (migration: ChangedSchema): void => {
    for (const step of migration.statements(compiler, types)) db.exec(step.compile().sql);
  };
  db.exec('create table receipts (id text); create table ledger_postings (id text)');
  migrate(lists);
  migrate(calls);
  const long = 'm'.repeat(60);
  db.exec(`
    insert into receipt_list (id, owner, at, profile, purpose, model, key, expires_at) values
      ('a', 'x', 3600000, 'standard', 'inference', '${long}', 'k', 9), ('b', 'x', 3659999, 'standard', 'inference', '${long}', 'k', 9),
      ('c', 'x', 3660000, 'standard', 'inference', '${long}', 'k', 9), ('d', 'x', 3660000, 'nano', 'mine', null, null, 9);
    insert into calls (id, owner, at, requested_model, provider, stream, cost, saving, status, error_code) values
      ('a', 'x', 1, 'auto', 'p', 0, 0, 0, 200, null), ('b', 'x', 1, 'auto', 'p', 0, 0, 0, 200, null),
      ('c', 'x', 1, 'auto', 'p', 1, 0, 0, 200, 'client_closed');`);
  migrate(receiptCounts);
  const listed = db.prepare('select id, provider, status from receipt_list order by id').all();
  expect(listed.map((row) => Object.values(row))).toEqual([
    ['a', 'p', 'ok'],
    ['b', 'p', 'ok'],
    ['c', 'p', 'error'],
    ['d', null, null],
  ]);
  const counted = db.prepare('select * from receipt_counts order by span, at, profile, status').all();
  const cut = long.slice(0, 50);
  expect(counted.map((row) => Object.values(row))).toEqual([
    ['x', 60, 3600, 'standard', 'inference', 'p', 'ok', cut, 'k', 2],
    ['x', 60, 3660, 'nano', '', '', '', '', '', 1],
    ['x', 60, 3660, 'standard', 'inference', 'p', 'error', cut, 'k', 1],
    ['x', 3600, 3600, 'nano', '', '', '', '', '', 1],
    ['x', 3600, 3600, 'standard', 'inference', 'p', 'error', cut, 'k', 1],
    ['x', 3600, 3600, 'standard', 'inference', 'p', 'ok', cut, 'k', 2],
    ['x', 86_400, 0, 'nano', '', '', '', '', '', 1],
    ['x', 86_400, 0, 'standard', 'inference', 'p', 'error', cut, 'k', 1],
    ['x', 86_400, 0, 'standard', 'inference', 'p', 'ok', cut, 'k', 2],
  ]);
  db.close();
});
