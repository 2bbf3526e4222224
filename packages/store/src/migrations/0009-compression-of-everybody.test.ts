import { DatabaseSync } from 'node:sqlite';
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Schema } from '../schema.ts';
import { compression } from './0004-compression.ts';
import { compressionOfEverybody } from './0009-compression-of-everybody.ts';
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

it('adds up for everybody what was counted before it', () => {
  const db = new DatabaseSync(':memory:');
  const migrate = (migration: ChangedSchema): void => {
    for (const step of migration.statements(compiler, types)) db.exec(step.compile().sql);
  };
  db.exec('create table usage_days (subject text)');
  migrate(compression);
  db.exec(`
    insert into compression_days values
      ('a', '2026-01-01', 2, 100, 60, 1, 9007199254740993, 7), ('b', '2026-01-01', 1, 10, 5, 0, 1, 1),
      ('a', '2026-01-02', 1, 4, 3, 0, 1, 1);
    insert into compression_method_days values
      ('a', '2026-01-01', 'm', 2, 40), ('b', '2026-01-01', 'm', 1, 5), ('a', '2026-01-02', 'n', 1, 1);`);
  migrate(compressionOfEverybody);
  const days = db.prepare(`
    select day, calls, changed_calls, tokens_before, tokens_after, lost_cache_tokens, cast(saving as text) as saving, share
    from compression_days where subject = '~' order by day`);
  expect(days.all().map((row) => Object.values(row))).toEqual([
    ['2026-01-01', 3, 3, 110, 65, 1, '9007199254740994', 8],
    ['2026-01-02', 1, 1, 4, 3, 0, '1', 1],
  ]);
  const methods = db.prepare(
    `select day, method, calls, tokens from compression_method_days where subject = '~' order by day`,
  );
  expect(methods.all().map((row) => Object.values(row))).toEqual([
    ['2026-01-01', 'm', 3, 45],
    ['2026-01-02', 'n', 1, 1],
  ]);
  expect(db.prepare(`select sum(calls = changed_calls) as same from compression_days`).get()).toEqual({
    same: 5,
  });
  db.close();
});
