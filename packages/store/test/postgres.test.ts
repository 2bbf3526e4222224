import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startPostgres, type TestPostgres } from '../../server/test/postgres.ts';
import { startTcpProxy } from '../../server/test/tcp-proxy.ts';
import { openPostgresStore } from '../src/postgres.ts';
import { POSTGRES_LIMITS } from '../src/postgres-limits.ts';
import { everySuite } from './every-suite.ts';
import { grows, SeenStatements } from './growing-tables.ts';
import { credit, NOW, reserve, settlement } from './ledger-fixtures.ts';
import { type Fault, ledgerRandomSuite } from './ledger-random-suite.ts';
import { hash, place } from './log-fixtures.ts';
import type { TestDatabase } from './test-database.ts';

const seen = new SeenStatements();
seen.watch(Client.prototype, 'query');

let server: TestPostgres;
let template: string;
let administration: string;
let databases = 0;

/** Databases that are kept: more than the tests need once. To drop one costs as much time as a test. */
const KEPT_DATABASES = 400;

/** A database with nothing but the store's tables: a copy, which takes less time than all migrations. */
async function newDatabase(): Promise<string> {
  databases += 1;
  const url = new URL(template);
  url.pathname = `/store_${databases}`;
  const oldest = databases - KEPT_DATABASES;
  if (oldest > 0) await execute(administration, `drop database store_${oldest} with (force)`);
  await execute(administration, `create database store_${databases} template store`);
  return url.href;
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function execute(url: string, sql: string): Promise<void> {
  const client = await connect(url);
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const WAITING = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Resolves once another connection of the database waits for a lock. */
async function waitForLock(client: Client): Promise<void> {
  while ((await client.query(`select ${WAITING}`)).rowCount === 0);
}

/** A process that leads and writes until it is fenced, and says so. */
function acceptAndAdvance(url: string): string {
  return `
    const { openPostgresStore } = await import(${JSON.stringify(import.meta.resolve('../src/postgres.ts'))});
    const store = await openPostgresStore(${JSON.stringify(url)});
    const { epoch } = await store.log.acquireLease('stopped', 0.001);
    console.log('leads');
    for (let closed = 0; closed !== 'fenced'; ) {
      closed = await store.log.closeBatch(epoch, 1, 2).catch((error) => error.code);
      console.log(closed);
    }
    await store.close();`;
}

/** A process that spends 10 at a time until nothing is left; answers the idempotency keys that it was charged for. */
async function spend(url: string, name: string): Promise<string[]> {
  const script = `
    const { openPostgresStore } = await import(${JSON.stringify(import.meta.resolve('../src/postgres.ts'))});
    const { reserve, settlement } = await import(${JSON.stringify(import.meta.resolve('./ledger-fixtures.ts'))});
    const store = await openPostgresStore(${JSON.stringify(url)});
    const { ledger } = store;
    const client = async (_, number) => {
      const account = 'caller:key_' + (number % 3);
      for (let i = 0, left = 5; left > 0; i += 1) {
        const id = '${name}-' + number + '-' + i;
        const { kind } = await reserve(ledger, id, 15n, account);
        if (kind === 'insufficient' && (await reserve(ledger, id, 10n, account)).kind === 'insufficient') {
          left -= 1;
          continue;
        }
        const scope = number + ' ' + i;
        const idempotency = { scope, requestHash: 'h', expiresAt: 2e9 };
        const outcome = await ledger.settle(settlement(id, 10n, { account, idempotency, jobOf: 'did:web:m' }));
        if (outcome === 'settled') console.log(scope);
        else if (outcome.kind !== 'replayed') throw new Error(JSON.stringify(outcome));
      }
    };
    await Promise.all(Array.from({ length: 24 }, client));
    await store.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  // Where the other one spent everything first, there is no line.
  return stdout.split('\n').filter((line) => line !== '');
}

/** Stops a process at a time when it holds the log's state and none of its statements is running. */
async function stopWithLock(child: ChildProcess, url: string): Promise<void> {
  const client = await connect(url);
  const holds = `
    select from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction' and query like '%log_state%'`;
  for (;;) {
    child.kill('SIGSTOP');
    if ((await client.query(holds)).rowCount === 1) break;
    child.kill('SIGCONT');
    await client.query('select 1');
  }
  await client.end();
}

beforeAll(async () => {
  server = await startPostgres();
  administration = await server.url('administration');
  template = await server.url('store');
  await (await openPostgresStore(template)).close();
  seen.endMigrations();
});

afterAll(() => server.stop());

async function createDatabase(): Promise<TestDatabase> {
  const url = await newDatabase();
  return { open: () => openPostgresStore(url), execute: (sql) => execute(url, sql) };
}

everySuite('PostgreSQL', createDatabase);

/** Makes queries fail as when the connection breaks. */
function failAt(next: () => Fault): void {
  const original = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => Promise<unknown>;
  const prototype = Client.prototype as unknown as { query: typeof original };
  vi.spyOn(prototype, 'query').mockImplementation(async function (this: unknown, ...args) {
    const fault = args[0] === 'ROLLBACK' ? 'none' : next();
    const result = fault === 'before' ? null : await Reflect.apply(original, this, args);
    if (fault === 'none') return result;
    throw new Error('The connection broke.');
  });
}

ledgerRandomSuite('PostgreSQL', createDatabase, {
  inject(next) {
    vi.restoreAllMocks();
    if (next !== null) failAt(next);
  },
});

describe('PostgreSQL', () => {
  it('makes no backup of a server that does not archive', async () => {
    const store = await openPostgresStore(await newDatabase());
    await expect(store.backup('unused')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('does not archive its WAL'),
    });
    await store.close();
  });

  it('stores no document while another one of its name is under way', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    const other = await connect(url);
    await other.query("begin; insert into documents values ('trust', 5, 'five')");
    const older = store.putDocument('trust', 4, 'four');
    await waitForLock(other);
    await other.query('commit');
    expect(await older).toBe('stale');
    await other.end();
    await store.close();
  });

  it('purges without waiting for what is in use', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    await Promise.all(['free', 'used'].map((counter) => store.consume(counter, 5, 1)));
    const other = await connect(url);
    await other.query("begin; select from counters where counter = 'used' for update");
    expect(await store.purge(1)).toMatchObject({ counters: 1 });
    await other.query('commit');
    expect(await store.purge(1)).toMatchObject({ counters: 1 });
    await other.end();
    await store.close();
  });

  it('answers unavailable when its connections break, and goes on with new ones', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    const hold = await connect(url);
    await hold.query('begin; lock table counters');
    const [refusal] = await Promise.all([
      store.consume('c', 5, 1).catch((error: unknown) => error),
      waitForLock(hold).then(() => hold.query(`select pg_terminate_backend(pid) ${WAITING}`)),
    ]);
    expect(refusal).toMatchObject({ code: 'unavailable' });
    await hold.end();
    expect(await store.consume('c', 5, 1)).toEqual({ allowed: true, used: 1 });
    await store.close();
  });

  it('sees the hashes that another placed while it waited for the log', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    const other = await connect(url);
    await other.query('begin; update log_state set next_index = 1');
    const placed = place(store.log, ['theirs', 'mine']);
    await waitForLock(other);
    await other.query('insert into leaves values (0, $1, 7)', [hash('theirs')]);
    await other.query('commit');
    expect(await placed).toMatchObject([{ index: 0, batchAt: 7 }, { index: 1 }]);
    await other.end();
    await store.close();
  });

  it('takes the locks from a process that stops in the middle, which then can write nothing', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    const stopped = spawn(process.execPath, ['--input-type=module', '-e', acceptAndAdvance(url)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(stopped, 'exit');
    const lines = createInterface(stopped.stdout)[Symbol.asyncIterator]();
    await lines.next();
    await stopWithLock(stopped, url);
    expect(await store.log.acquireLease('other', 60)).toMatchObject({ epoch: 2 });
    const leaves = await place(store.log, ['mine']);
    stopped.kill('SIGCONT');
    let last = '';
    for (let line = await lines.next(); line.done !== true; line = await lines.next()) last = line.value;
    await ended;
    expect(last).toBe('fenced');
    expect(await store.log.getLeaf(leaves[0]?.index ?? -1)).toEqual(leaves[0]);
    await store.close();
  });

  it('lets two processes spend what is there, once', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    const { ledger } = store;
    for (const i of [0, 1, 2]) await credit(ledger, `caller:key_${i}`, 1_000n);
    await ledger.registerMember({ did: 'did:web:m', handle: null, at: NOW });
    const settled = (await Promise.all(['a', 'b'].map((id) => spend(url, id)))).flat();
    const total = settled.length * 10;
    expect(total).toBe(3 * 1_000);
    for (const i of [0, 1, 2]) {
      expect(await ledger.balance(`caller:key_${i}`)).toMatchObject({ balance: 0n, reserved: 0n });
    }
    expect(await ledger.balance('provider:openai')).toMatchObject({ balance: BigInt(total) });
    expect(await ledger.member('did:web:m')).toMatchObject({ jobs: settled.length });
    expect(new Set(settled).size).toBe(settled.length);
    expect(await ledger.checkBalanced()).toEqual({ postings: 3 + settled.length, sum: 0n, faults: [] });
    await store.close();
  });

  it('throws all connections away when one is silent, and goes on with new ones', async () => {
    const url = new URL(await newDatabase());
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const limits = { ...POSTGRES_LIMITS, statementMs: 2_500, queryMs: 3_000 };
    const store = await openPostgresStore(url.href, limits);
    const use = () => store.consume('c', 99, 1).then(({ used }) => used);
    await Promise.all([use(), ...Array.from({ length: 9 }, () => store.ping())]);
    proxy.blackHole();
    // Whether this one was counted nobody can say, so it is not acknowledged; the rest find living connections.
    await expect(use()).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all(Array.from({ length: 9 }, () => store.ping()));
    expect(await use()).toBeLessThanOrEqual(3);
    await store.close();
    await proxy.stop();
  });

  it('settles what was delivered though its connection dies, and once', async () => {
    const url = new URL(await newDatabase());
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const limits = { ...POSTGRES_LIMITS, statementMs: 2_500, queryMs: 3_000 };
    const store = await openPostgresStore(url.href, limits);
    const { ledger } = store;
    const account = 'caller:key_1';
    await credit(ledger, account, 100n);
    await reserve(ledger, 'call', 60n, account);
    proxy.blackHole();
    const outcome = await ledger.settle(settlement('call', 10n, { account }));
    expect(['settled', 'settled_before']).toContain(outcome);
    expect(await ledger.balance(account)).toMatchObject({ balance: 90n, reserved: 0n });
    expect(await ledger.checkBalanced()).toMatchObject({ sum: 0n, faults: [] });
    await store.close();
    await proxy.stop();
  });

  it('answers unavailable when a server takes connections and says nothing, and closes all the same', async () => {
    const url = new URL(await newDatabase());
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const limits = { ...POSTGRES_LIMITS, connectMs: 300, queryMs: 500 };
    // A busy machine may not open a store within such limits at the first try.
    const store = await vi.waitFor(() => openPostgresStore(url.href, limits), 60_000);
    proxy.blackHole();
    proxy.fate = 'swallow';
    for (const _ of [1, 2, 3]) await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
    const hanging = store.ping().catch((error: unknown) => error);
    await store.close();
    expect(await hanging).toMatchObject({ code: 'unavailable' });
    await proxy.stop();
  });

  it('answers unavailable when a lock is not to be had in time', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url, { ...POSTGRES_LIMITS, lockMs: 100 });
    const hold = await connect(url);
    await hold.query('begin; lock table counters');
    await expect(store.consume('c', 5, 1)).rejects.toMatchObject({ code: 'unavailable' });
    await hold.query('commit');
    expect(await store.consume('c', 5, 1)).toEqual({ allowed: true, used: 1 });
    await hold.end();
    await store.close();
  });

  it('ends a statement that takes too long, but not the audit of all postings', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url, { ...POSTGRES_LIMITS, statementMs: 100 });
    const hold = await connect(url);
    await hold.query('begin; lock table ledger_entries, receipts');
    await expect(store.getReceipt('r')).rejects.toMatchObject({ code: 'unavailable' });
    const audit = store.ledger.checkBalanced();
    await waitForLock(hold);
    await expect(store.getReceipt('r')).rejects.toMatchObject({ code: 'unavailable' });
    await hold.query('commit');
    expect(await audit).toMatchObject({ postings: 0 });
    await hold.end();
    await store.close();
  });

  it('answers unavailable when there is no server', async () => {
    await expect(openPostgresStore('postgres://nobody@127.0.0.1:1/none')).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});

describe('the statements of PostgreSQL', () => {
  it('read no table through that grows', async () => {
    const statements = seen.all();
    expect(statements.length, 'Run the whole file: its suites run the statements.').toBeGreaterThan(300);
    const client = await connect(template);
    onTestFinished(() => client.end());
    // A table is read through only where there is no other way. What other suites made is not in this database.
    await client.query('set enable_seqscan = off');
    const through: { tables: string[]; sql: string }[] = [];
    for (const sql of statements) {
      const { rows } = await client
        .query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${sql}`)
        .catch((error: Error) => ({ rows: [{ 'QUERY PLAN': String(error) }] }));
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      const tables = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table = '']) => table).filter(grows);
      if (tables.length > 0) through.push({ tables, sql });
      if (plan.startsWith('error')) through.push({ tables: [plan], sql });
    }
    expect(through).toEqual([]);
  });
});
