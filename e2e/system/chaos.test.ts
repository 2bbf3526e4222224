import { join } from 'node:path';
import { entriesPath, type JsonObject, TILE_WIDTH } from '@tallystick/core';
import { checkTrust, verifyReceipt } from '@tallystick/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { devAccount } from '../../packages/chain/src/token/dev-accounts.ts';
import { DEV_USDC, deployDevToken } from '../../packages/chain/src/token/dev-token.ts';
import { MODELS_FILE } from '../../packages/server/test/models.ts';
import { startUpstream, type Upstream } from '../../packages/server/test/upstream.ts';
import { Clients } from '../chaos/clients.ts';
import { breakThings } from '../chaos/faults.ts';
import { Fleet } from '../chaos/fleet.ts';
import { PostgresPair } from '../chaos/postgres-pair.ts';
import { startFacilitator, type TestFacilitator } from '../facilitator.ts';
import { expectBooksAgree, untilReady } from '../faults/load.ts';
import { fsck, type Key, logKeyOf, SOUND, statusOf, until, untilAnchored } from '../log-client.ts';
import { LogWatch } from '../log-watch.ts';
import { payer } from '../payer.ts';
import { type PostingChain, startPostingChain } from '../posting-chain.ts';
import { type Env, post, tally, temporaryFolder } from '../process.ts';
import { drawing } from '../random.ts';

// `TALLY_CHAOS_SECONDS=3600 npm run test:system -- chaos` breaks things for an hour, TALLY_TEST_SEED=… those of another run.

const SECONDS = Number(process.env['TALLY_CHAOS_SECONDS'] ?? 60);
const MINUTE_MS = 60_000;
const PROCESSES = 3;
/** Of the budgeted key, a day, in nano-USDC: some fifty calls. */
const BUDGET = 315_000n;
const random = drawing('chaos');

interface Made {
  readonly id: string;
  readonly key: Key;
}

const fleet = new Fleet();
const watch = new LogWatch();
let postgres: PostgresPair;
let chain: PostingChain;
let upstream: Upstream;
let facilitator: TestFacilitator;
let env: Env;

beforeAll(async () => {
  const dataDir = temporaryFolder();
  [postgres, chain, upstream, facilitator] = await Promise.all([
    PostgresPair.start(temporaryFolder(), 'chaos'),
    startPostingChain(dataDir),
    startUpstream(),
    startFacilitator(),
  ]);
  await deployDevToken(chain.anvil.rpcUrl);
  facilitator.use(chain.anvil.rpcUrl);
  env = {
    ...chain.env,
    TALLY_DATABASE_URL: postgres.url,
    TALLY_DATA_DIR: dataDir,
    TALLY_KEYRING: join(dataDir, 'keyring.json'),
    TALLY_LOG_ORIGIN: 'chaos.example',
    TALLY_ANCHOR_PERIOD_SECONDS: '1',
    TALLY_PAYMENTS: 'x402',
    TALLY_TREASURY: devAccount('treasury').address,
    TALLY_USDC: DEV_USDC,
    TALLY_X402_FACILITATOR: facilitator.url,
    TALLY_X402_WAIT_SECONDS: '5',
    TALLY_FREE_MINT_PER_DAY: '0',
    TALLY_CONFIG: MODELS_FILE,
    TALLY_MODEL_GONE_REST_MS: '1000',
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    OPENAI_API_KEY: 'sk-operator',
  };
  fleet.onReady = (url) => watch.follow(url);
  await fleet.start(env, PROCESSES);
});
afterAll(async () => {
  await fleet.close();
  await Promise.all([upstream?.close(), facilitator?.close()]);
  await postgres?.stop();
});

const url = (): string => {
  const [first] = fleet.urls;
  if (first === undefined) throw new Error('No process is there.');
  return first;
};

const run = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await tally(args, env);
  expect(code, stderr).toBe(0);
  return stdout;
};

/** A key of the caller who pays for all calls, with a budget a day if one is given. */
async function makeKey(owner: Key, dailyUsdc?: string): Promise<Made> {
  const body = { name: 'chaos', ...(dailyUsdc !== undefined && { limits: { day_usdc: dailyUsdc } }) };
  const { status, text } = await post(`${url()}/v1/keys`, body, owner);
  expect(status, text).toBe(201);
  const { id, key } = JSON.parse(text) as { id: string; key: string };
  return { id, key: { authorization: `Bearer ${key}` } };
}

/** Says every minute how the processes do. */
function report(clients: Clients): NodeJS.Timeout {
  return setInterval(() => {
    const taken = clients.latencies.toSorted((a, b) => a - b);
    clients.latencies = [];
    const at = (share: number): number => Math.round(taken[Math.floor(taken.length * share)] ?? 0);
    const counts = `${clients.minted.size} minted, ${clients.billed.size} calls, ${clients.placed.answered} hashes, ${clients.paid.size} paid`;
    const memory = `${fleet.memory.join(', ')} MiB`;
    process.stderr.write(`chaos: ${counts}; mint p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ${memory}\n`);
  }, MINUTE_MS).unref();
}

it(
  'nothing that was acknowledged is lost, forged or charged twice, whatever breaks',
  async () => {
    const { id, key } = JSON.parse(await run('apikey', 'create', '--tier', 'scale', '--json')) as Record<
      string,
      string
    >;
    await run('ledger', 'credit', String(id), '1000');
    const owner: Key = { authorization: `Bearer ${key}` };
    const budgeted = await makeKey(owner, String(Number(BUDGET) / 1e9));
    const free = await makeKey(owner);
    const clients = new Clients(() => fleet.urls);
    clients.start(
      { log: owner, budgeted: budgeted.key, free: free.key },
      payer('alice', chain.anvil.rpcUrl, { schemes: ['exact'] }),
    );
    const reporting = report(clients);
    const began = performance.now();
    const tell = (what: string): void => {
      process.stderr.write(`chaos: ${Math.round((performance.now() - began) / 1_000)} s: ${what}\n`);
    };
    const troubles = await breakThings({ fleet, postgres, chain, upstream }, random, {
      until: began + SECONDS * 1_000,
      tell,
    });
    clearInterval(reporting);
    await Promise.all(fleet.urls.map(untilReady));
    await clients.stop();
    await watch.stop();
    expect(fleet.urls).toHaveLength(PROCESSES);

    const { minted, paid, billed, placed } = clients;
    tell(
      `${troubles} troubles; ${minted.size} minted, ${billed.size} calls, ${placed.answered} hashes, ${paid.size} paid`,
    );
    for (const acknowledged of [minted, billed, paid]) expect(acknowledged.size).toBeGreaterThan(0);

    // Every receipt is there, at every process, as it was given, and verifies offline.
    const trust = await checkTrust(await (await fetch(`${url()}/.well-known/trust.json`)).text());
    const receipts = new Map([
      ...[...minted, ...paid].map(([id, text]): [string, JsonObject] => [id, JSON.parse(text) as JsonObject]),
      ...[...billed].map(([id, { receipt }]): [string, JsonObject] => [id, receipt]),
    ]);
    for (const [at, [id, given]] of [...receipts].entries()) {
      const from = fleet.urls[at % fleet.urls.length];
      const kept = (await (await fetch(`${from}/v1/receipt/${id}`, { headers: owner })).json()) as JsonObject;
      // Meanwhile it may have got its anchor, which is no part of what is signed.
      const { anchor: _anchor, anchor_ref: _ref, ...signed } = kept;
      expect(given).toMatchObject(signed);
      expect(await verifyReceipt(given, { trust })).toMatchObject({ valid: true, issuer: { trusted: true } });
    }

    // Every hash has its place, every root is on the chain, and no checkpoint that anybody saw is of another tree.
    await placed.repeat(url(), owner);
    await placed.place(url(), owner, 10);
    const { accepted } = await statusOf(url());
    await untilAnchored(url(), accepted);
    expect(await fsck(env, chain.anvil.rpcUrl)).toMatchObject(SOUND);
    const { tree_size: size } = await statusOf(url());
    expect(size).toBeGreaterThanOrEqual(accepted);
    const hashes = await hashesOfLog(size);
    placed.expectIn(hashes);
    await watch.expectOneTree(await logKeyOf(url()), hashes);

    // The books balance and agree with the chain; nobody spent more than a budget, or less than the receipts say.
    await expectBooksAgree(env);
    const spent = async ({ id }: Made): Promise<bigint> => {
      const answer = await fetch(`${url()}/v1/keys`, { headers: owner });
      const { data } = (await answer.json()) as { data: { id: string; spent: { day_usdc: string } }[] };
      const { day_usdc = '0' } = data.find((one) => one.id === id)?.spent ?? {};
      return BigInt(Math.round(Number(day_usdc) * 1e9));
    };
    const [ofBudgeted, ofFree] = [await spent(budgeted), await spent(free)];
    expect(ofBudgeted).toBeLessThanOrEqual(BUDGET);
    const acknowledged = [...billed.values()].reduce((sum, { cost }) => sum + cost, 0n);
    expect(ofBudgeted + ofFree).toBeGreaterThanOrEqual(acknowledged);

    // Every call that was answered is in the list of its caller, with its receipt.
    const missing = async (): Promise<string[]> => {
      const ids = await listed(owner);
      return [...billed.keys()].filter((id) => !ids.has(id));
    };
    await until(missing, ({ length }) => length === 0, 120);
    for (const mib of fleet.memory) expect(mib).toBeLessThan(400);
  },
  // Looking for what was acknowledged takes a fifteenth of the time, or half of it on a busy machine.
  (SECONDS * 1.5 + 300) * 1_000,
);

/** The ids of all calls in a caller's list. */
async function listed(caller: Key): Promise<Set<string>> {
  const text = await (await fetch(`${url()}/v1/compute/calls?format=ndjson`, { headers: caller })).text();
  return new Set(
    text.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as { id: string }).id)),
  );
}

/** The hashes of all leaves, from the bundles that anybody can read (C2SP tlog-tiles): each after its length in two bytes. */
async function hashesOfLog(size: number): Promise<Uint8Array[]> {
  const hashes: Uint8Array[] = [];
  for (let from = 0; from < size; from += TILE_WIDTH) {
    const path = entriesPath(from / TILE_WIDTH, Math.min(TILE_WIDTH, size - from));
    const bytes = new Uint8Array(await (await fetch(`${url()}/${path}`)).arrayBuffer());
    for (let at = 0; at < bytes.length; at += 34) hashes.push(bytes.slice(at + 2, at + 34));
  }
  return hashes;
}
