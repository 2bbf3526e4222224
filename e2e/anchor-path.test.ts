import { anchoredHash, fromHex, type JsonObject, toBase64url } from '@tallystick/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { anchorOf, createKey, getJson, hashOf, type Key, statusOf, until } from './log-client.ts';
import { type PostingChain, startPostingChain } from './posting-chain.ts';
import { type Env, post, type Served, serve, tally, temporaryFolder } from './process.ts';

const PERIOD = 1;
const PENDING = /^urn:anchor:pending:/;
const BILL = {
  machine_commitment: '1'.repeat(64),
  customer_commitment: '2'.repeat(64),
  salt_commitment: '3'.repeat(64),
  window_start: '2025-02-01T00:00:00Z',
  window_end: '2025-03-01T00:00:00Z',
  service_unit: 'pick',
  billed_unit_count: 2,
  rate: { unit_rate_minor: 5, currency: 'EUR', rate_commitment: '4'.repeat(64) },
  evidence: [{ receipt_sha256: 'a'.repeat(64), unit: 1 }],
};

/** The first hash of a log, and what was answered for it. */
interface First {
  /** What the batch may be called that it was accepted for. */
  readonly batches: readonly string[];
  readonly pending: JsonObject;
  readonly anchored: JsonObject;
}

let chain: PostingChain;
let env: Env;
let service: Served;
let pro: Key;
let first: First;

beforeAll(async () => {
  const dataDir = temporaryFolder();
  chain = await startPostingChain(dataDir);
  env = { TALLY_DATA_DIR: dataDir, TALLY_ANCHOR_PERIOD_SECONDS: String(PERIOD), ...chain.env };
  service = await serve(env);
  pro = await createKey('pro', env);
  const before = Date.now();
  const { json: pending } = await send('/v1/anchor', { canonical_sha256: hashOf('x') }, pro);
  const batches = [before, Date.now()].map(batchAfter);
  first = { batches, pending, anchored: await anchoredResult(hashOf('x')) };
});

/** The minute of the scheduled time that follows an instant. */
function batchAfter(unixMs: number): string {
  const seconds = (Math.floor(unixMs / 1000 / PERIOD) + 1) * PERIOD;
  return `${new Date(seconds * 1000).toISOString().slice(0, 16)}Z`;
}

async function send(
  path: string,
  body: JsonObject,
  key: Key,
): Promise<{ json: JsonObject; ref: string | null }> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...key },
    body: JSON.stringify(body),
  });
  const json = (await response.json()) as JsonObject;
  if (response.status !== 200) throw new Error(JSON.stringify(json));
  return { json, ref: response.headers.get('x-anchor-ref') };
}

const anchoredResult = (hash: string): Promise<JsonObject> =>
  until(
    () => anchorOf(service.url, hash),
    (found) => 'merkle_root' in found,
  );

/** The service’s own verdict: it knows the transactions of its log. */
async function verdictOf(receipt: JsonObject, anchor?: JsonObject): Promise<JsonObject> {
  const { text } = await post(`${service.url}/v1/receipt/verify`, { receipt, ...(anchor && { anchor }) });
  const { valid, issuer, checks } = JSON.parse(text);
  const anchors = (checks as { name: string; ok: boolean | null }[])
    .filter(({ name }) => name.startsWith('anchor'))
    .map(({ name, ok }) => [name, ok]);
  return { valid, trusted: issuer.trusted, ...Object.fromEntries(anchors) };
}

const PROVED = {
  valid: true,
  trusted: true,
  anchor: true,
  anchor_checkpoint: true,
  anchor_transaction: true,
};

describe('from a hash to a chain', () => {
  it('a hash is pending: the answer is what is specified, and no more', () => {
    const { pending, batches } = first;
    expect(pending).toEqual({
      anchor_ref: `urn:anchor:pending:${pending.batch_id as string}:0`,
      batch_id: expect.toBeOneOf(batches),
      eta_seconds: expect.toBeOneOf([0, 1]),
    });
  });

  it('then it is anchored: the answer is what is specified, with the leaf’s place, and no more', async () => {
    const { block_height, tx_hash } = first.anchored as { block_height: number; tx_hash: string };
    const { origin } = await statusOf(service.url);
    expect(first.anchored).toEqual({
      anchor_ref: `urn:anchor:devnet:${block_height}:${tx_hash}:0`,
      network: 'devnet',
      block_height: expect.any(Number),
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      merkle_root: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      merkle_path: [],
      verified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      leaf_index: 0,
      tree_size: 1,
      checkpoint: expect.stringContaining(`${origin}\n1\n`),
    });
  });

  it('its root is in the transaction that the answer names', async () => {
    const { tx_hash, block_height, merkle_root } = first.anchored;
    const [posted] = await chain.posted();
    expect(posted).toEqual({
      txHash: tx_hash,
      nonce: 0,
      size: 1,
      root: (merkle_root as string).slice('sha256:'.length),
    });
    expect(await chain.transaction(tx_hash as string)).toMatchObject({ blockHeight: block_height });
  });

  it('either reference finds it, and handing it in again too', async () => {
    const { pending, anchored } = first;
    for (const ref of [pending.anchor_ref, anchored.anchor_ref] as string[]) {
      expect(await getJson(`${service.url}/v1/anchor/${ref}`)).toEqual(anchored);
    }
    const again = await send('/v1/anchor', { canonical_sha256: hashOf('x') }, pro);
    expect(again.json).toEqual(anchored);
  });

  it('a receipt that asked for it is read with its anchor', async () => {
    const minted = await send('/v1/receipt/emit', { input: 'order 42', anchor: true }, pro);
    expect(minted.json).toMatchObject({ tier: 'pro', anchor_ref: minted.ref });
    expect(minted.ref).toMatch(PENDING);
    const { id } = minted.json.receipt as { id: string };
    const read = await until(
      () => getJson(`${service.url}/v1/receipt/${id}`),
      (receipt) => 'anchor' in receipt,
    );
    const anchor = read.anchor as JsonObject;
    expect(read).toEqual({ ...minted.json, anchor_ref: anchor.anchor_ref, anchor });
    expect(anchor).toEqual(await getJson(`${service.url}/v1/anchor/${anchor.anchor_ref as string}`));
    expect(await verdictOf(read)).toEqual(PROVED);
    expect(await verdictOf(minted.json, first.anchored)).toMatchObject({ valid: false, anchor: false });
  });

  it.each(['scale', 'enterprise'] as const)(
    'all that the key of tier %s mints is anchored unasked',
    async (tier) => {
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
        expect(ref).toMatch(PENDING);
        const anchor = await anchoredResult(toBase64url(fromHex(anchoredHash(json), 32)));
        expect(await verdictOf(json, anchor)).toEqual(PROVED);
      }
    },
  );

  it('and fsck, which asks the chain for every posting, finds no fault', async () => {
    const { stdout } = await tally(['log', 'fsck', '--rpc', chain.anvil.rpcUrl, '--json'], env);
    const { accepted } = await statusOf(service.url);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      faults: [],
      chain_asked: true,
      leaves: accepted,
      postings: (await chain.posted()).length,
    });
  });
});
