import { Client, TypeOverrides } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../server/test/postgres.ts';
import { run, type Work } from '../src/database-work.ts';
import { openPostgresStore } from '../src/postgres.ts';
import { POSTGRES_LIMITS } from '../src/postgres-limits.ts';
import { PostgresPool } from '../src/postgres-pool.ts';
import { begin, inTransaction } from '../src/postgres-work.ts';
import type { Statement } from '../src/statement.ts';

/** Both transactions wait for this lock once each has done its first half. */
const GATE = 77;
/** How often the store tries a transaction. */
const TRIES = 6;

let server: TestPostgres;
let databases = 0;
let url: string;
let admin: Client;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

beforeEach(async () => {
  databases += 1;
  url = await server.url(`conflicts_${databases}`);
  admin = new Client({ connectionString: url });
  await admin.connect();
  return () => admin.end();
});

const plain = (sql: string): Statement<object, unknown> => ({ sql, parameters: [] });
/** On a busy machine the two may meet late. */
const PATIENT = {
  ...POSTGRES_LIMITS,
  lockMs: 60_000,
  statementMs: 60_000,
  idleTransactionMs: 60_000,
  queryMs: 90_000,
};
const BEGIN = begin(PATIENT, 'durable');

/** Runs two transactions that meet halfway, and returns how often each was begun. */
async function meet(
  beginning: string,
  transactions: readonly (readonly [string, string])[],
): Promise<number> {
  const types = new TypeOverrides();
  const pool = new PostgresPool({ servers: { urls: [url], must: null }, limits: PATIENT, types });
  let begun = 0;
  function* work([first, second]: readonly [string, string]): Work<void> {
    begun += 1;
    yield* run(plain(first), {});
    yield* run(plain(`select pg_advisory_xact_lock_shared(${GATE})`), {});
    yield* run(plain(second), {});
  }
  await admin.query(`select pg_advisory_lock(${GATE})`);
  const running = Promise.all(transactions.map((one) => inTransaction(pool, beginning, () => work(one))));
  const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
  while ((await admin.query(waiting)).rowCount !== transactions.length);
  await admin.query(`select pg_advisory_unlock(${GATE})`);
  await running;
  await pool.close();
  return begun;
}

describe('a transaction that another one is preferred to', () => {
  beforeEach(async () => {
    await admin.query('create table numbers (name text primary key, n int)');
    await admin.query("insert into numbers values ('a', 1), ('b', 10)");
  });
  const numbers = async () =>
    Object.fromEntries(
      (await admin.query('select name, n from numbers')).rows.map(({ name, n }) => [name, n]),
    );

  it('is run again after a deadlock', async () => {
    const add = (name: string, n: number) => `update numbers set n = n + ${n} where name = '${name}'`;
    const begun = await meet(BEGIN, [
      [add('a', 1), add('b', 1)],
      [add('b', 2), add('a', 2)],
    ]);
    // More often where the second try takes the freed row before the transaction that waits for it wakes up.
    expect(begun).toBeGreaterThan(2);
    expect(await numbers()).toEqual({ a: 4, b: 13 });
  });

  it('is run again after a serialization failure, from its first statement', async () => {
    const copySum = (name: string) =>
      `update numbers set n = (select sum(n) from numbers) where name = '${name}'`;
    const begun = await meet('BEGIN ISOLATION LEVEL SERIALIZABLE', [
      ['select sum(n) from numbers', copySum('a')],
      ['select sum(n) from numbers', copySum('b')],
    ]);
    expect(begun).toBeGreaterThan(2);
    // As if one had run after the other. At once, both would be 11.
    expect([
      { a: 11, b: 21 },
      { a: 12, b: 11 },
    ]).toContainEqual(await numbers());
  });
});

describe('the store', () => {
  /** Refuses what is counted the given number of times. A sequence counts on through a rollback. */
  async function refuse(times: number, state: string): Promise<void> {
    await admin.query(`
      create sequence tries;
      create function refuse() returns trigger language plpgsql as $$ begin
        if nextval('tries') <= ${times} then raise exception using errcode = '${state}'; end if;
        return new;
      end $$;
      create trigger refuse before insert on counters for each row execute function refuse()`);
  }
  const tries = async (): Promise<number> =>
    Number((await admin.query('select last_value from tries')).rows[0].last_value);

  it.each(['40001', '40P01'])(
    'repeats a transaction that was refused with %s, and counts once',
    async (state) => {
      const store = await openPostgresStore(url);
      await refuse(2, state);
      expect(await store.consume('c', 5, 1)).toEqual({ allowed: true, used: 1 });
      await store.close();
    },
  );

  it('gives up after some tries, and says that it passes', async () => {
    const store = await openPostgresStore(url);
    await refuse(1_000, '40001');
    await expect(store.consume('c', 5, 1)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await tries()).toBe(TRIES);
    await store.close();
  });

  it('repeats nothing after another error', async () => {
    const store = await openPostgresStore(url);
    await refuse(1, '53100');
    await expect(store.consume('c', 5, 1)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await tries()).toBe(1);
    await store.close();
  });
});
