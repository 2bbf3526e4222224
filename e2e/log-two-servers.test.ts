import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import {
  createKey,
  fsck,
  hashOf,
  type Key,
  logKeyOf,
  metric,
  Placed,
  SOUND,
  statusOf,
  until,
  untilAnchored,
  untilSigned,
} from './log-client.ts';
import { LogWatch, rootsOf } from './log-watch.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, type Served, serve, temporaryFolder } from './process.ts';

/** For the lead to move: the documents say 10 s; a machine with much else to do may take longer. */
const TAKEOVER_MS = 15_000;
const WRITERS = 2;

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

/** Id of the process that has the lease of the lead; null if none has. */
async function leaseHolder(): Promise<string | null> {
  const { rows } = await database.query<{ lease_holder: string | null }>(
    'select lease_holder from log_state',
  );
  return rows[0]?.lease_holder ?? null;
}

/** Waits until a server leads, and a checkpoint covers a hash that it accepts from then on. */
async function lead(server: Served): Promise<void> {
  await until(() => leads(server), Boolean);
  await placed.place(server.url, key, 1);
  await untilSigned(server.url, placed.answered);
}

/** Writers on a server, from now until `stop`, which waits for their last answers. */
function loadOn({ url }: Served): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const writer = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await placed.placeSome(url, key, 20).catch(expectTrouble);
    }
  };
  const writers = Promise.all(Array.from({ length: WRITERS }, writer));
  return {
    async stop() {
      stopping.abort();
      await writers;
    },
  };
}

/** A server that was stopped may have lost its connections. */
function expectTrouble(error: unknown): void {
  expect(String(error)).toMatch(/fetch failed|terminated|"code":"unavailable"/);
}

/** What the checkpoints say once both servers rest, and how many of them each server has signed. */
async function atRest(signers: readonly Served[]): Promise<{ stored: number; signed: number[] }> {
  for (const { url } of signers) await placed.repeat(url, key);
  return until(
    async () => ({
      ...(await statusOf(signers[0]?.url ?? '')),
      stored: (await database.query('select size from checkpoints')).rowCount ?? 0,
      signed: await Promise.all(
        signers.map(({ url }) => metric(url, 'anchor_log_integration_seconds_count')),
      ),
    }),
    ({ accepted, tree_size }) => accepted === tree_size && accepted === placed.answered,
  );
}

/** Every root that anybody saw or posted is of one tree: that of the accepted hashes in their places. */
async function expectOneLog(): Promise<void> {
  const [{ url }] = servers;
  const { hashes } = placed;
  await untilAnchored(url, hashes.length);
  await watch.expectOneTree(await logKeyOf(url), hashes);
  const { rows } = await database.query(
    'select tx_hash, size, batch_at, state from postings order by sequence',
  );
  const roots = rootsOf(
    hashes,
    rows.map(({ size }) => Number(size)),
  );
  expect(await chain.posted()).toEqual(
    rows.map(({ tx_hash, size }, nonce) => ({
      txHash: tx_hash,
      nonce,
      size: Number(size),
      root: roots.get(Number(size)),
    })),
  );
  expect(new Set(rows.map(({ batch_at }) => batch_at)).size).toBe(rows.length);
}

describe('two servers on one database', () => {
  it('accept at the same time, each hash once and at one place, and one leads', async () => {
    const same = Array.from({ length: 50 }, (_, at) => hashOf(`same ${at}`));
    await Promise.all(servers.map(({ url }) => placed.send(url, key, same)));
    const loads = servers.map(loadOn);
    await untilAnchored(servers[0].url, placed.answered + 300);
    for (const load of loads) await load.stop();
    await expect
      .poll(async () => new Set(await Promise.all(servers.map(leads))))
      .toEqual(new Set([true, false]));
    await expectOneLog();
    const postings = (await chain.posted()).length;
    expect(await fsck(env, chain.anvil.rpcUrl)).toMatchObject({
      ...SOUND,
      leaves: placed.answered,
      postings,
    });
  });

  it('a leader that is killed soon loses the lead', async (context) => {
    const [leader, follower] = await roles();
    const load = loadOn(follower);
    const began = performance.now();
    await leader.kill('SIGKILL');
    await lead(follower);
    const took = performance.now() - began;
    await load.stop();
    await context.annotate(`kill -9: the other one led after ${Math.round(took)} ms`);
    expect(took).toBeLessThan(TAKEOVER_MS);
    servers = [follower, await startServer()];
    expect((await roles())[0]).toBe(follower);
    await expectOneLog();
  });

  it.each([1, 2])(
    'a leader that is stopped past its lease and woken signs nothing, and follows (%d)',
    async () => {
      const [leader, follower] = await roles();
      const loads = [loadOn(leader), loadOn(follower)] as const;
      const { count } = watch;
      await until(
        async () => watch.count,
        (now) => now > count + 1,
      );
      void leader.kill('SIGSTOP');
      await lead(follower);
      await loads[1].stop();
      const before = await atRest([follower]);

      const load = loadOn(follower);
      void leader.kill('SIGCONT');
      // It answers by what it has learnt since, and what it accepts another one signs.
      await placed.place(leader.url, key, 1);
      await untilSigned(leader.url, placed.answered);
      await Promise.all([load.stop(), loads[0].stop()]);
      const after = await atRest([follower, leader]);
      const [signed = 0] = after.signed;
      expect(after.stored - before.stored).toBeGreaterThan(0);
      expect(after.stored - before.stored).toBe(signed - (before.signed[0] ?? 0));
      expect(await roles()).toEqual([follower, leader]);
      await expectOneLog();
    },
  );

  it('a leader that ends hands the lead over', async (context) => {
    const [leader, follower] = await roles();
    const holder = await leaseHolder();
    const began = performance.now();
    expect(await leader.kill('SIGTERM')).toMatchObject({ code: 0 });
    // It has let the lease go, for which a leader that says nothing is waited for.
    expect(await leaseHolder()).not.toBe(holder);
    await lead(follower);
    await context.annotate(`SIGTERM: the other one led after ${Math.round(performance.now() - began)} ms`);
    servers = [follower, await startServer()];
    await expectOneLog();
  });
});
