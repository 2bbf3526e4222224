import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres, type TestPostgres } from '../../packages/server/test/postgres.ts';
import { startTcpProxy, type TcpProxy } from '../../packages/server/test/tcp-proxy.ts';
import { createKey, type Key, metric, statusOf, until } from '../log-client.ts';
import { type PostingChain, startPostingChain } from '../posting-chain.ts';
import { type Env, type Served, serve, temporaryFolder } from '../process.ts';
import { Load, RECOVERED_SECONDS, readiness, untilReady, untilStatusIsRed, untilUnready } from './load.ts';

/** What is promised for another process to sign. */
const TAKEOVER_SECONDS = 15;
/** The sum of what each step of closing may take, with what is in flight before. */
const CLOSED_MS = 60_000;

interface Behind extends Served {
  readonly proxy: TcpProxy;
}

let postgres: TestPostgres;
let chain: PostingChain;
let env: Env;
let key: Key;
let servers: [Behind, Behind];

beforeAll(async () => {
  const dataDir = temporaryFolder();
  [postgres, chain] = await Promise.all([startPostgres(), startPostingChain(dataDir)]);
  env = {
    ...chain.env,
    TALLY_DATABASE_URL: await postgres.url('black_hole'),
    TALLY_DATA_DIR: dataDir,
    TALLY_KEYRING: join(dataDir, 'keyring.json'),
    TALLY_LOG_ORIGIN: 'log.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
  };
  servers = [await startBehind(), await startBehind()];
  key = await createKey('scale', env);
});
afterAll(async () => {
  await Promise.all(servers.map(({ proxy }) => proxy.stop()));
  await postgres?.stop();
});

/** A service whose connections to the database can be cut. */
async function startBehind(): Promise<Behind> {
  const url = new URL(env['TALLY_DATABASE_URL'] ?? '');
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  return { ...(await serve({ ...env, TALLY_DATABASE_URL: url.href })), proxy };
}

/** Neither the connections that are open nor new ones carry anything more, until the proxy forwards again. */
function cutOff({ proxy }: Behind): void {
  proxy.fate = 'swallow';
  proxy.blackHole();
}

/** The leader and the other one, once there is one leader. */
async function roles(): Promise<[leader: Behind, other: Behind]> {
  const [first, second] = servers;
  const leads = async ({ url }: Served): Promise<boolean> => (await metric(url, 'anchor_log_leading')) === 1;
  const [one] = await until(
    () => Promise.all([leads(first), leads(second)]),
    ([a, b]) => a !== b,
  );
  return one ? [first, second] : [second, first];
}

/** Waits until a server leads, and has signed a larger checkpoint than there was by then. */
async function untilSigns({ url }: Served): Promise<void> {
  const began = performance.now();
  const left = (): number => TAKEOVER_SECONDS - (performance.now() - began) / 1_000;
  await until(
    () => metric(url, 'anchor_log_leading'),
    (leads) => leads === 1,
    left(),
  );
  const { tree_size: before } = await statusOf(url);
  await until(
    () => statusOf(url),
    ({ tree_size }) => tree_size > before,
    left(),
  );
}

describe('connections to the database that die without a word', () => {
  it('of the leader: another process signs, the leader says that it is not ready, and recovers', async () => {
    const [leader, other] = await roles();
    const load = new Load('leader', key);
    for (const server of servers) load.start(server);
    await until(
      async () => load.placed,
      (placed) => placed > 20,
    );
    cutOff(leader);
    await Promise.all([untilSigns(other), untilUnready(leader.url)]);
    leader.proxy.fate = 'forward';
    expect(await Promise.all([untilReady(other.url), untilReady(leader.url)])).toEqual([200, 200]);
    await load.stop();
    await load.expectKept(leader, env, chain.anvil.rpcUrl);
    await load.expectKept(other, env, chain.anvil.rpcUrl);
  });

  it('of a follower: it says that it is not ready, and recovers', async () => {
    const [leader, follower] = await roles();
    const load = new Load('follower', key);
    load.start(follower);
    await until(
      async () => load.placed,
      (placed) => placed > 20,
    );
    cutOff(follower);
    await untilUnready(follower.url);
    expect(await readiness(leader.url)).toBe(200);
    follower.proxy.fate = 'forward';
    await untilReady(follower.url);
    await load.stop();
    await load.expectKept(follower, env, chain.anvil.rpcUrl);
  });

  it('while new ones still come through: those take over', async () => {
    const [, follower] = await roles();
    const load = new Load('new connections', key);
    load.start(follower);
    await until(
      async () => load.placed,
      (placed) => placed > 20,
    );
    follower.proxy.blackHole();
    const { placed: before } = load;
    await until(
      async () => load.placed,
      (placed) => placed > before + 20,
      RECOVERED_SECONDS,
    );
    expect(await untilReady(follower.url)).toBe(200);
    await load.stop();
    await load.expectKept(follower, env, chain.anvil.rpcUrl);
  });

  it('for good: SIGTERM ends the process all the same, which says what hung', async () => {
    const [leader, other] = await roles();
    const load = new Load('ending', key);
    load.start(other);
    cutOff(leader);
    await Promise.all([untilUnready(leader.url), untilStatusIsRed(leader.url)]);
    const began = performance.now();
    const ended = leader.kill('SIGTERM');
    await untilSigns(other);
    const { code, signal, stderr } = await ended;
    expect(performance.now() - began).toBeLessThan(CLOSED_MS);
    expect({ code, signal }).toEqual({ code: 1, signal: null });
    expect(stderr).toMatch(/^.*did not shut down cleanly: giving up the lead of the log took more than.*$/m);
    await load.stop();
    await load.expectKept(other, env, chain.anvil.rpcUrl);
  });
});
