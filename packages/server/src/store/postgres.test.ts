import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../test/postgres.ts';
import { openPostgresStore } from './postgres.ts';
import { storeSuite } from './store-suite.ts';

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

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server.stop());

storeSuite('PostgreSQL', async () => {
  const url = await newDatabase();
  return { open: () => openPostgresStore(url), execute: (sql) => execute(url, sql) };
});

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

  it('answers unavailable when there is no server', async () => {
    await expect(openPostgresStore('postgres://nobody@127.0.0.1:1/none')).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
