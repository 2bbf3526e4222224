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

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
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

  it('answers unavailable when its connections break, and goes on with new ones', async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    const hold = new Client({ connectionString: url });
    await hold.connect();
    await hold.query('begin; lock table counters');
    const waiting = store.consume('c', 5, 1);
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    for (let cuts = 0; cuts === 0; ) cuts = (await hold.query(cut)).rowCount ?? 0;
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
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
