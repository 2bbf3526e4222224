import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../server/test/free-port.ts';
import { startPostgres, type TestPostgres } from '../../server/test/postgres.ts';
import { openPostgresStore, waitForPostgres } from '../src/postgres.ts';
import { POSTGRES_LIMITS } from '../src/postgres-limits.ts';
import type { Store } from '../src/store.ts';
import { newCall } from './call-fixtures.ts';
import { NO_FILTER, NOW, OWNER, row } from './list-fixtures.ts';

let servers: [TestPostgres, TestPostgres];
let urls: [string, string];

beforeAll(async () => {
  servers = await Promise.all([startPostgres(), startPostgres()]);
  urls = await Promise.all([servers[0].url('tally'), servers[1].url('tally')]);
  // Both have the schema, as a standby has.
  await Promise.all(urls.map(async (url) => (await openPostgresStore(url)).close()));
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

const hostOf = (url: string): string => new URL(url).host;

function several(hosts: readonly string[], attrs = 'read-write'): string {
  return `postgres://postgres:password@${hosts.join(',')}/tally?target_session_attrs=${attrs}`;
}

/** Makes every new transaction of a server read-only, as those of a standby are, or ends that. */
async function setReadOnly(url: string, on: boolean): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`alter system set default_transaction_read_only = ${on ? 'on' : 'off'}`);
  await client.query('select pg_reload_conf()');
  await vi.waitFor(
    async () => {
      const fresh = new Client({ connectionString: url });
      await fresh.connect();
      const { rows } = await fresh.query('show default_transaction_read_only');
      await fresh.end();
      expect(rows).toEqual([{ default_transaction_read_only: on ? 'on' : 'off' }]);
    },
    { timeout: 60_000 },
  );
  await client.end();
}

/** The version of the document that a server has; 0 for none. */
async function versionAt(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select coalesce(max(version), 0)::int as n from documents where name = 'servers'`,
  );
  await client.end();
  return rows[0].n;
}

let version = 0;
const write = (store: Store): Promise<unknown> => {
  version += 1;
  return store.putDocument('servers', version, '{}');
};

describe('several servers', () => {
  it('are tried in turn: one is down', async () => {
    const store = await openPostgresStore(several([`127.0.0.1:${await freePort()}`, hostOf(urls[1])]));
    await write(store);
    await store.close();
    expect(await versionAt(urls[1])).toBe(version);
  });

  it('are passed over while they are read-only, and followed when the roles change', async () => {
    await setReadOnly(urls[1], true);
    const store = await openPostgresStore(several([hostOf(urls[1]), hostOf(urls[0])]));
    await write(store);
    expect([await versionAt(urls[0]), await versionAt(urls[1])]).toEqual([version, version - 1]);
    // The other one takes over: connections that are open to the one before learn it from their next statement.
    await setReadOnly(urls[1], false);
    await setReadOnly(urls[0], true);
    await vi.waitFor(() => write(store), { timeout: 60_000, interval: 100 });
    expect(await versionAt(urls[1])).toBe(version);
    expect((await store.getDocument('servers'))?.version).toBe(version);
    await setReadOnly(urls[0], false);
    await store.close();
  });

  it('of which none can be used are an error that passes', async () => {
    await setReadOnly(urls[0], true);
    await expect(
      openPostgresStore(several([hostOf(urls[0]), `127.0.0.1:${await freePort()}`])),
    ).rejects.toMatchObject({
      code: 'unavailable',
    });
    await setReadOnly(urls[0], false);
  });

  it('that may not be in recovery take one that is only read-only by its settings', async () => {
    await setReadOnly(urls[0], true);
    await waitForPostgres(several([hostOf(urls[0])], 'primary'), POSTGRES_LIMITS, {
      ms: 0,
      onWait: () => {},
    });
    await expect(
      waitForPostgres(several([hostOf(urls[0])]), POSTGRES_LIMITS, { ms: 0, onWait: () => {} }),
    ).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/not read-write/) });
    await setReadOnly(urls[0], false);
  });

  it('leave one that dies for the next', async () => {
    const store = await openPostgresStore(several([hostOf(urls[0]), hostOf(urls[1])]));
    await write(store);
    servers[0].signal('SIGKILL');
    await vi.waitFor(() => write(store), { timeout: 60_000, interval: 100 });
    await store.close();
    expect(await versionAt(urls[1])).toBe(version);
    await servers[0].restart();
  });
});

/** How a row is written that nobody writes again while its process lives, and whether it is there. */
const ROWS: Record<
  string,
  { put: (store: Store) => Promise<void>; find: (store: Store) => Promise<boolean> }
> = {
  'list of calls': {
    put: (store) => store.calls.put([newCall(1, { id: 'a', owner: OWNER })]),
    find: async (store) => (await store.calls.find(OWNER, 'a')) !== null,
  },
  'list of receipts': {
    put: (store) => store.receiptList.put([row('a')]),
    find: async (store) => {
      const place = { from: 0, before: { at: 1_000, id: '' }, now: 0, limit: 10 };
      return (await store.receiptList.page({ ...NO_FILTER, ...place, owner: OWNER })).length > 0;
    },
  },
  'kept contents of calls': {
    put: (store) =>
      store.contents.put([{ id: 'a', owner: OWNER, key: null, expiresAt: NOW, sealed: Buffer.of(1) }]),
    find: async (store) => (await store.contents.find(OWNER, 'a')) !== null,
  },
};

describe('a server that is killed and started again', () => {
  beforeAll(async () => {
    const admin = new Client({ connectionString: urls[0] });
    await admin.connect();
    // Now nothing but a durable transaction writes the log of the database soon.
    await admin.query("alter system set wal_writer_delay = '10s'");
    await admin.query('select pg_reload_conf()');
    await admin.end();
  });

  it.each(Object.entries(ROWS))('keeps what was written to the %s', async (_name, { put, find }) => {
    const store = await openPostgresStore(urls[0]);
    await put(store);
    servers[0].signal('SIGKILL');
    await servers[0].restart();
    expect(await vi.waitFor(() => find(store), { timeout: 60_000, interval: 100 })).toBe(true);
    await store.close();
  });
});

describe('waiting', () => {
  it('ends with an error that names the setting', async () => {
    const reasons: string[] = [];
    const url = `postgres://postgres:hunter2@127.0.0.1:${await freePort()}/tally`;
    const waited = waitForPostgres(url, POSTGRES_LIMITS, {
      ms: 700,
      onWait: (reason) => reasons.push(reason),
    });
    await expect(waited).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(
        /^The database could not be reached within 0.7 s \(ECONNREFUSED\).*TALLY_DATABASE_URL/,
      ),
    });
    expect(reasons.length).toBeGreaterThan(0);
    expect(new Set(reasons)).toEqual(new Set(['ECONNREFUSED']));
  });

  it.each([
    [
      'a password is wrong',
      (host: string) => `postgres://postgres:hunter2@${host}/tally`,
      'The database refuses the login (password authentication failed for user "postgres"). Check the user and the password in TALLY_DATABASE_URL, and the server’s pg_hba.conf.',
    ],
    [
      'there is no such database',
      (host: string) => `postgres://postgres:password@${host}/talli`,
      'The server has no such database (database "talli" does not exist). Check its name in TALLY_DATABASE_URL, or create it.',
    ],
  ])('does not begin where %s', async (_, urlAt, message) => {
    const onWait = vi.fn<() => void>();
    const url = urlAt(hostOf(urls[0]));
    const told = { code: 'unavailable', message };
    await expect(waitForPostgres(url, POSTGRES_LIMITS, { ms: 60_000, onWait })).rejects.toMatchObject(told);
    expect(onWait).not.toHaveBeenCalled();
    await expect(openPostgresStore(url)).rejects.toMatchObject(told);
  });
});
