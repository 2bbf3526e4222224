import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MODELS_FILE } from '../packages/server/test/models.ts';
import { startPostgres, type TestPostgres } from '../packages/server/test/postgres.ts';
import { startUpstream, type Upstream } from '../packages/server/test/upstream.ts';
import { until } from './log-client.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';

const CHAT = '/v1/compute/chat/completions';
const BODY = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Say it.' }] };
/** Of a call of that model, in nano-USDC. */
const PRICE = 6_300n;
const KEYS = 50;
/** What is promised for what a dead process has put aside; the lease here is shorter than by default. */
const PROMISED_SECONDS = 60;

let postgres: TestPostgres;
let database: Client;
let upstream: Upstream;
let env: Env;
let dataDir: string;
const started: Served[] = [];

beforeAll(async () => {
  dataDir = temporaryFolder();
  [postgres, upstream] = await Promise.all([startPostgres(), startUpstream()]);
  const url = await postgres.url('claims');
  database = new Client({ connectionString: url });
  await database.connect();
  env = {
    TALLY_DATABASE_URL: url,
    TALLY_DATA_DIR: dataDir,
    TALLY_KEYRING: join(dataDir, 'keyring.json'),
    TALLY_DEVNET: 'off',
    TALLY_PROCESS_LEASE_SECONDS: '6',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    TALLY_CONFIG: MODELS_FILE,
    OPENAI_API_KEY: 'sk-operator',
  };
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill('SIGKILL')));
});
afterAll(async () => {
  await database.end();
  await postgres.stop();
  await upstream.close();
});

async function startServer(): Promise<Served> {
  const server = await serve(env);
  started.push(server);
  return server;
}

const chat = ({ url }: Served, key?: string) =>
  post(url + CHAT, BODY, key === undefined ? {} : { 'idempotency-key': key });

/** Of the account that pays for all calls here. */
async function account(): Promise<{ spent: bigint; reserved: bigint }> {
  const { rows } = await database.query<{ balance: string; reserved: string }>(
    "select balance, reserved from accounts where account = 'development'",
  );
  const { balance = '0', reserved = '0' } = rows[0] ?? {};
  return { spent: -BigInt(balance), reserved: BigInt(reserved) };
}

/** Makes the provider keep its next answer back. */
function holdNext(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.play({ fault: { kind: 'held', until: promise } });
  return resolve;
}

const untilAsked = (count: number) =>
  until(
    async () => upstream.requests.length,
    (asked) => asked === count,
  );
const untilNothingReserved = () =>
  until(
    async () => Number((await account()).reserved),
    (reserved) => reserved === 0,
    PROMISED_SECONDS,
  );

async function expectSound(): Promise<void> {
  const { code, stdout } = await tally(['ledger', 'check'], env);
  expect(code, stdout).toBe(0);
}

describe('two processes on one PostgreSQL', () => {
  it('call the provider once for a key that comes to both at once', async () => {
    const servers = [await startServer(), await startServer()];
    const answers = await Promise.all(
      Array.from({ length: KEYS }, (_, key) =>
        Promise.all(servers.map((server) => chat(server, `k-${key}`))),
      ),
    );
    for (const [one, other] of answers) {
      expect(one?.status, one?.text).toBe(200);
      expect(other).toEqual(one);
    }
    expect(upstream.requests).toHaveLength(KEYS);
    expect(await account()).toEqual({ spent: BigInt(KEYS) * PRICE, reserved: 0n });
    await expectSound();
  });

  it('let the other one answer when the claimant is killed, and charge once', async () => {
    const [claimant, other] = [await startServer(), await startServer()];
    const [{ spent: before }, calls] = [await account(), upstream.requests.length];
    const letGo = holdNext();
    const lost = chat(claimant, 'killed').catch(() => 'broken');
    await untilAsked(calls + 1);
    expect((await account()).reserved).toBeGreaterThan(0n);
    const waiting = chat(other, 'killed');
    await claimant.kill('SIGKILL');
    expect(await lost).toBe('broken');
    expect((await waiting).status).toBe(200);
    letGo();
    expect(upstream.requests).toHaveLength(calls + 2);
    expect(await account()).toEqual({ spent: before + PRICE, reserved: 0n });
    expect(await chat(other, 'killed')).toEqual(await waiting);
    await expectSound();
  });

  it('give back within a minute what a killed one had put aside, and nothing of a live one', async () => {
    const [killed, other] = [await startServer(), await startServer()];
    const [{ spent: before }, calls] = [await account(), upstream.requests.length];
    const letGo = [holdNext(), holdNext()];
    const lost = chat(killed).catch(() => 'broken');
    await untilAsked(calls + 1);
    const { reserved: ofOne } = await account();
    expect(ofOne).toBeGreaterThan(0n);
    const live = chat(other);
    await untilAsked(calls + 2);
    await killed.kill('SIGKILL');
    expect(await lost).toBe('broken');
    await until(
      async () => (await account()).reserved === ofOne,
      (isBack) => isBack,
      PROMISED_SECONDS,
    );
    for (const each of letGo) each();
    expect((await live).status).toBe(200);
    expect(await account()).toEqual({ spent: before + PRICE, reserved: 0n });
    await expectSound();
  });

  it('charge once where the claimant was paused past its lease and wakes', async () => {
    const [paused, other] = [await startServer(), await startServer()];
    const [{ spent: before }, calls] = [await account(), upstream.requests.length];
    const letGo = [holdNext(), holdNext()];
    const [withKey, without] = [chat(paused, 'paused'), chat(paused)];
    await untilAsked(calls + 2);
    void paused.kill('SIGSTOP');
    const taken = await chat(other, 'paused');
    expect(taken.status).toBe(200);
    await untilNothingReserved();
    for (const each of letGo) each();
    void paused.kill('SIGCONT');
    expect(await withKey).toEqual(taken);
    expect((await without).status).toBe(200);
    expect(upstream.requests).toHaveLength(calls + 3);
    expect(await account()).toEqual({ spent: before + 2n * PRICE, reserved: 0n });
    await expectSound();
  });
});
