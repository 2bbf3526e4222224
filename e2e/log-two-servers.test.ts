import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import {
  createKey,
  expectSound,
  type Key,
  logKeyOf,
  metric,
  Placed,
  place,
  hashOf,
  until,
  untilAnchored,
  untilSigned,
} from './log-client.ts';
import { LogWatch } from './log-watch.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, type Served, serve, temporaryFolder } from './process.ts';

/** What is promised for the lead to move. */
const TAKEOVER_MS = 10_000;
const WRITERS = 4;
const STOPS = 3;

const watch = new LogWatch();
const placed = new Placed('shared');
let postgres: TestPostgres;
let database: Client;
let chain: PostingChain;
let env: Env;
let key: Key;
let servers: [Served, Served];

beforeAll(async () => {
  const dataDir = temporaryFolder();
  [postgres, chain] = await Promise.all([startPostgres(), startPostingChain(dataDir)]);
  const url = await postgres.url('log');
  database = new Client({ connectionString: url });
  await database.connect();
  env = {
    ...chain.env,
    TALLY_DATABASE_URL: url,
    TALLY_DATA_DIR: dataDir,
    TALLY_KEYRING: join(dataDir, 'keyring.json'),
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
  };
  servers = await Promise.all([startServer(), startServer()]);
  key = await createKey('scale', env);
});
afterAll(async () => {
  await watch.stop();
  await database?.end();
  await postgres?.stop();
});

async function startServer(): Promise<Served> {
  const server = await serve(env);
  watch.follow(server.url);
  return server;
}

const leads = async ({ url }: Served): Promise<boolean> => (await metric(url, 'anchor_log_leading')) === 1;

/** The leader and the other one, once there is one leader. */
async function roles(): Promise<[leader: Served, follower: Served]> {
  const [first, second] = servers;
  const [one] = await until(
    () => Promise.all([leads(first), leads(second)]),
    ([a, b]) => a !== b,
  );
  return one ? [first, second] : [second, first];
}

/** Waits until a server leads and a root that it signed covers a hash of after the call. Answers the milliseconds. */
async function takeover(server: Served): Promise<number> {
  const began = performance.now();
  await until(() => leads(server), Boolean);
  await placed.place(server.url, key, 1);
  await untilSigned(server.url, placed.answered);
  return performance.now() - began;
}

/** Writers on both servers until `work` is done. A request to a server that ends or is stopped may fail. */
async function underLoad<T>(work: () => Promise<T>): Promise<T> {
  let done = false;
  const writer = async (_: unknown, number: number): Promise<void> => {
    while (!done) {
      const { url } = servers[number % 2 === 0 ? 0 : 1];
      await placed.place(url, key, 1 + Math.floor(Math.random() * 20)).catch(broken);
    }
  };
  const writers = Array.from({ length: WRITERS }, writer);
  try {
    return await work();
  } finally {
    done = true;
    await Promise.all(writers);
  }
}

const broken = (error: unknown): void => expect(String(error)).toMatch(/fetch failed|terminated/);

const checkpoints = async (): Promise<unknown[]> =>
  (await database.query('select size, root, note from checkpoints order by size')).rows;

describe('two servers on one database', () => {
  it('accept at the same time, each hash once and at one place, and one leads', async () => {
    const same = Array.from({ length: 50 }, (_, at) => hashOf(`same ${at}`));
    const [one, other] = await Promise.all(servers.map(({ url }) => place(url, key, same)));
    expect(other).toEqual(one);
    await placed.take(same, one ?? []);
    await underLoad(() => untilAnchored(servers[0].url, 300));
    const [leader] = await roles();
    await untilSigned(leader.url, placed.hashes.length);
  });

  it('a leader that is killed loses the lead in under 10 s', async (context) => {
    const [leader, follower] = await roles();
    await leader.kill('SIGKILL');
    const took = await takeover(follower);
    await context.annotate(`kill -9: the other one led after ${Math.round(took)} ms`);
    expect(took).toBeLessThan(TAKEOVER_MS);
    servers = [follower, await startServer()];
    expect((await roles())[0]).toBe(follower);
  });

  it('a leader that is stopped past its lease and woken signs nothing, and follows', { timeout: 120_000 }, async () => {
    for (let stop = 0; stop < STOPS; stop++) {
      const [leader, follower] = await roles();
      await underLoad(async () => {
        const { count } = watch;
        await until(async () => watch.count, (now) => now > count + 1);
        void leader.kill('SIGSTOP');
        expect(await takeover(follower)).toBeLessThan(TAKEOVER_MS);
        const before = await checkpoints();
        void leader.kill('SIGCONT');
        // It has asked for the lease again, in vain, once it says so.
        expect(await until(() => leads(leader), (leading) => !leading)).toBe(false);
        await placed.place(leader.url, key, 1);
        await untilSigned(leader.url, placed.answered);
        expect((await checkpoints()).slice(0, before.length)).toEqual(before);
        expect(await leads(follower)).toBe(true);
      });
    }
  });

  it('a leader that ends hands the lead over, also to one that was woken', async (context) => {
    const [leader, follower] = await roles();
    const left = leader.kill('SIGTERM');
    const took = await takeover(follower);
    expect(await left).toMatchObject({ code: 0, stderr: '' });
    await context.annotate(`SIGTERM: the other one led after ${Math.round(took)} ms`);
    expect(took).toBeLessThan(5_000);
    servers = [follower, await startServer()];
  });

  it('and in the end there was one tree, each of its roots was posted once, and fsck finds no fault', async () => {
    const [{ url }] = servers;
    for (const server of servers) await placed.repeat(server.url, key);
    const { hashes } = placed;
    await untilAnchored(url, hashes.length);
    await watch.stop();
    await watch.expectOneTree(await logKeyOf(url), hashes);
    const { rows } = await database.query('select tx_hash, size, state from postings order by sequence');
    const posted = await chain.posted();
    expect(posted.map(({ txHash, size }) => [txHash, size, 'finalized'])).toEqual(
      rows.map(({ tx_hash, size, state }) => [tx_hash, Number(size), state]),
    );
    const report = await expectSound(env, chain.anvil.rpcUrl);
    expect(report).toMatchObject({ leaves: hashes.length, postings: posted.length });
  });
});
