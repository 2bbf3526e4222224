import { join } from 'node:path';
import {
  type AnchorTransaction,
  anchoredHash,
  checkTrustBundle,
  fromHex,
  type JsonObject,
  type Trust,
  toBase64url,
  trustOf,
  verify,
} from '@tallystick/core';
import { openChainReader } from '@tallystick/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anchorOf,
  createKey,
  expectSound,
  getJson,
  hashOf,
  type Key,
  statusOf,
  until,
  untilAnchored,
} from './log-client.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';

const PERIOD = 2;
const HASH = hashOf('x');
const hex = (digit: string): string => digit.repeat(64);
const BILL = {
  machine_commitment: hex('1'),
  customer_commitment: hex('2'),
  salt_commitment: hex('3'),
  window_start: '2025-02-01T00:00:00Z',
  window_end: '2025-03-01T00:00:00Z',
  service_unit: 'pick',
  billed_unit_count: 2,
  rate: { unit_rate_minor: 5, currency: 'EUR', rate_commitment: hex('4') },
  evidence: [{ receipt_sha256: hex('a'), unit: 1 }],
};

interface Answer {
  readonly text: string;
  readonly json: JsonObject;
  readonly ref: string | null;
}

const dataDir = temporaryFolder();
let chain: PostingChain;
let env: Env;
let service: Served;
let pro: Key;

async function send(path: string, body: JsonObject, key: Key): Promise<Answer> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...key },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return { text, json: JSON.parse(text), ref: response.headers.get('x-anchor-ref') };
}

const anchoredAt = (hash: string): Promise<JsonObject> =>
  until(
    () => anchorOf(service.url, hash),
    (found) => 'merkle_root' in found,
  );

/** What somebody far away needs once, from the service. */
async function trusted(): Promise<Trust> {
  const { bundle } = await checkTrustBundle(await getJson(`${service.url}/.well-known/trust.json`), {
    now: Date.now(),
  });
  return trustOf(bundle.issuers, [bundle]);
}

/** Checks a receipt without the service. */
async function checksOf(
  receipt: JsonObject,
  options: { anchor?: JsonObject; transaction?: AnchorTransaction | null } = {},
): Promise<{ valid: boolean; trusted: boolean; checks: Record<string, boolean | null> }> {
  const { valid, issuer, checks } = await verify(receipt, {
    now: Date.now(),
    trust: await trusted(),
    ...options,
  });
  const named = checks.filter(({ name }) => name.startsWith('anchor'));
  return {
    valid,
    trusted: issuer.trusted,
    checks: Object.fromEntries(named.map(({ name, ok }) => [name, ok])),
  };
}

async function transactionOf(txHash: string): Promise<AnchorTransaction | null> {
  const reader = openChainReader({
    rpcUrl: chain.anvil.rpcUrl,
    chainId: 31_337,
    finality: { kind: 'confirmations', count: 1 },
    timeoutMs: 5000,
  });
  const found = await reader.transaction(txHash);
  if (found === null) return null;
  const { from, data, inclusion } = found;
  const { blockHeight, blockTime } = inclusion;
  return { chainId: reader.chainId, txHash, blockHeight, blockTime, from, data };
}

beforeAll(async () => {
  chain = await startPostingChain(dataDir);
  env = { TALLY_DATA_DIR: dataDir, TALLY_ANCHOR_PERIOD_SECONDS: String(PERIOD), ...chain.env };
  service = await serve(env);
  pro = await createKey('pro', env);
});
afterAll(() => service.kill('SIGKILL'));

describe('from a hash to a chain', () => {
  it('the hash is pending, then anchored, and both answers are what is specified and no more', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { json: pending } = await send('/v1/anchor', { canonical_sha256: HASH }, pro);
    const after = Math.floor(Date.now() / 1000);
    const minutes = [before, after].map((at) => {
      const batch = (Math.floor(at / PERIOD) + 1) * PERIOD;
      return `${new Date(batch * 1000).toISOString().slice(0, 16)}Z`;
    });
    expect(pending).toEqual({
      anchor_ref: `urn:anchor:pending:${pending.batch_id as string}:0`,
      batch_id: expect.toBeOneOf(minutes),
      eta_seconds: expect.toBeOneOf([0, 1, 2]),
    });

    const anchored = await anchoredAt(HASH);
    const { block_height, tx_hash } = anchored as { block_height: number; tx_hash: string };
    expect(anchored).toEqual({
      anchor_ref: `urn:anchor:devnet:${block_height}:${tx_hash}:0`,
      network: 'devnet',
      block_height: expect.any(Number),
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      merkle_root: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      merkle_path: [],
      verified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      leaf_index: 0,
      tree_size: 1,
      checkpoint: expect.stringContaining((await statusOf(service.url)).origin),
    });
    for (const ref of [pending.anchor_ref, anchored.anchor_ref] as string[]) {
      expect(await getJson(`${service.url}/v1/anchor/${ref}`)).toEqual(anchored);
    }
    expect((await chain.posted()).map(({ txHash }) => txHash)).toEqual([tx_hash]);
  });

  it('a receipt that asked for it is read with its anchor, which a stranger checks offline and by the chain', async () => {
    const minted = await send('/v1/receipt/emit', { input: 'order 42', anchor: true }, pro);
    expect(minted.json).toMatchObject({ tier: 'pro', anchor_ref: minted.ref });
    expect(minted.ref).toMatch(/^urn:anchor:pending:/);
    expect(await checksOf(minted.json)).toEqual({ valid: true, trusted: true, checks: { anchor: null } });

    const { id } = minted.json.receipt as { id: string };
    const read = await until(
      () => getJson(`${service.url}/v1/receipt/${id}`),
      (receipt) => 'anchor' in receipt,
    );
    const anchor = read.anchor as JsonObject & { tx_hash: string };
    expect(read).toEqual({ ...minted.json, anchor_ref: anchor.anchor_ref, anchor });
    expect(anchor).toEqual(await getJson(`${service.url}/v1/anchor/${anchor.anchor_ref as string}`));

    const offline = { anchor: true, anchor_checkpoint: true, anchor_transaction: null };
    expect(await checksOf(read)).toEqual({ valid: true, trusted: true, checks: offline });
    const transaction = await transactionOf(anchor.tx_hash);
    const onChain = { ...offline, anchor_transaction: true };
    expect(await checksOf(read, { transaction })).toEqual({ valid: true, trusted: true, checks: onChain });
    // The first posting is a real one of the same log, but of another root.
    const [first] = await chain.posted();
    const other = await transactionOf(first?.txHash ?? '');
    expect(await checksOf(read, { transaction: other })).toMatchObject({
      valid: false,
      checks: { anchor_transaction: false },
    });
    expect(await checksOf(minted.json, { anchor: await anchorOf(service.url, HASH) })).toMatchObject({
      valid: false,
      checks: { anchor: false },
    });
  });

  it.each(['scale', 'enterprise'] as const)('all that a %s key mints is anchored unasked', async (tier) => {
    const key = await createKey(tier, env);
    const answers = [
      await send('/v1/receipt/free', { input: tier, purpose: 'p' }, key),
      ...(await Promise.all(
        ['nano', 'standard', 'pq'].map((profile) =>
          send(`/v1/receipt/emit?profile=${profile}`, { input: tier }, key),
        ),
      )),
      await send('/v1/receipt/metering', { ...BILL, billed_unit_count: tier.length }, key),
    ];
    for (const { json, ref } of answers) {
      expect(ref).toMatch(/^urn:anchor:pending:/);
      const anchor = await anchoredAt(toBase64url(fromHex(anchoredHash(json), 32)));
      const transaction = await transactionOf(anchor.tx_hash as string);
      expect(await checksOf(json, { anchor, transaction })).toEqual({
        valid: true,
        trusted: true,
        checks: { anchor: true, anchor_checkpoint: true, anchor_transaction: true },
      });
    }
  });

  it('and fsck, which asks the chain for every posting, finds no fault', async () => {
    const { code, stdout } = await tally(['log', 'fsck', '--rpc', chain.anvil.rpcUrl, '--json'], env);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 0,
      ok: true,
      chain_asked: true,
      leaves: 12,
      postings: (await chain.posted()).length,
    });
  });
});

describe('a log with a development chain of its own', () => {
  const home = temporaryFolder();
  const own: Env = { TALLY_DATA_DIR: home, TALLY_ANCHOR_PERIOD_SECONDS: '1' };
  let key: Key;

  it('goes on where it was after SIGTERM and after kill -9', { timeout: 90_000 }, async () => {
    let log = await serve(own);
    key = await createKey('scale', own);
    const { origin, verifier_key, chain: account } = await statusOf(log.url);
    const results: JsonObject[] = [];
    for (const [round, signal] of (['SIGTERM', 'SIGKILL', 'SIGTERM'] as const).entries()) {
      await post(`${log.url}/v1/anchor`, { canonical_sha256: hashOf(`${round}`) }, key);
      await untilAnchored(log.url, round + 1);
      results.push(await anchorOf(log.url, hashOf(`${round}`)));
      expect(await log.kill(signal)).toMatchObject(
        signal === 'SIGTERM' ? { code: 0, stderr: '' } : { signal },
      );
      log = await serve(own);
      expect(await statusOf(log.url)).toMatchObject({ origin, verifier_key, chain: account });
      for (const [at, result] of results.entries())
        expect(await anchorOf(log.url, hashOf(`${at}`))).toEqual(result);
    }
    const heights = results.map(({ block_height }) => block_height);
    expect(heights).toEqual([1, 2, 3]);
    await log.kill('SIGTERM');
    expect(await expectSound(own)).toMatchObject({ leaves: 3, postings: 3 });
  });

  it('starts with no other origin, chain or key, and is none the worse for the attempt', async () => {
    const stranger = join(temporaryFolder(), 'stranger');
    await (await serve({ TALLY_DATA_DIR: stranger, TALLY_DEVNET: 'off' })).kill('SIGTERM');
    const others: [string, Env][] = [
      ['origin', { TALLY_LOG_ORIGIN: 'other.example' }],
      ['chain id', { TALLY_CHAIN_ID: '4242' }],
      ['key', { TALLY_KEYRING: join(stranger, 'keyring.json') }],
    ];
    for (const [what, change] of others) {
      const refused = await serve({ ...own, ...change }).then(
        () => 'It started.',
        (error: Error) => error.message,
      );
      expect(refused).toMatch(
        new RegExp(`The data are of the log with the ${what} \\S+, but \\S+ is config`),
      );
      expect(refused).not.toMatch(/ at .*:\d+:\d+/);
    }
    const log = await serve(own);
    await post(`${log.url}/v1/anchor`, { canonical_sha256: hashOf('after') }, key);
    await untilAnchored(log.url, 4);
    await log.kill('SIGTERM');
    expect(await expectSound(own)).toMatchObject({ leaves: 4, postings: 4 });
  });
});
