import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../test/postgres.ts';
import { apiKeySuite } from './api-key-suite.ts';
import { hash, place } from './log-fixtures.ts';
import { logLeavesSuite } from './log-leaves-suite.ts';
import { logPostingsSuite } from './log-postings-suite.ts';
import { logTreeSuite } from './log-tree-suite.ts';
import { openPostgresStore } from './postgres.ts';
import { storeSuite } from './store-suite.ts';
import type { TestDatabase } from './test-database.ts';

let server: TestPostgres;
let databases = 0;

function newDatabase(): Promise<string> {
  databases += 1;
  return server.url(`store_${databases}`);
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

async function execute(url: string, sql: string): Promise<void> {
  const client = await connect(url);
  await client.query(sql);
  await client.end();
}

const WAITING = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

/** Resolves once another connection of the database waits for a lock. */
async function waitForLock(client: Client): Promise<void> {
  while ((await client.query(`select ${WAITING}`)).rowCount === 0);
}

/** A process that leads and writes until it is fenced, and says so. */
function acceptAndAdvance(url: string): string {
  return `
    const { openPostgresStore } = await import(${JSON.stringify(import.meta.resolve('./postgres.ts'))});
    const store = await openPostgresStore(${JSON.stringify(url)});
    const { epoch } = await store.log.acquireLease('stopped', 0.001);
    console.log('leads');
    for (let closed = 0; closed !== 'fenced'; ) {
      closed = await store.log.closeBatch(epoch, 1, 2).catch((error) => error.code);
      console.log(closed);
    }
    await store.close();`;
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
});

afterAll(() => server.stop());

async function createDatabase(): Promise<TestDatabase> {
  const url = await newDatabase();
  return { open: () => openPostgresStore(url), execute: (sql) => execute(url, sql) };
}

for (const suite of [storeSuite, logLeavesSuite, logTreeSuite, logPostingsSuite, apiKeySuite]) {
  suite('PostgreSQL', createDatabase);
}

describe('PostgreSQL', () => {
  it('leaves backups to pg_dump', async () => {
    const store = await openPostgresStore(await newDatabase());
    await expect(store.backup('unused')).rejects.toMatchObject({ code: 'unavailable' });
    await store.close();
  });

  it('stores no document while another one of its name is under way', { timeout: 10_000 }, async () => {
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

  it('purges without waiting for what is in use', { timeout: 10_000 }, async () => {
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

  it('sees the hashes that another placed while it waited for the log', { timeout: 10_000 }, async () => {
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

  it('answers unavailable when there is no server', async () => {
    await expect(openPostgresStore('postgres://nobody@127.0.0.1:1/none')).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
