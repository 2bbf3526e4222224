import { existsSync, renameSync } from 'node:fs';
import {
  type AnchoredResult,
  checkTrustBundle,
  decodePosting,
  fromHex,
  type JsonObject,
  type JsonValue,
  parseTlogProof,
  readAnchoredResult,
  toHex,
  trustOf,
  verify,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openServices } from '../src/app/services.ts';
import { startAnvil, type TestAnvil } from './anvil.ts';
import { hashOf } from './hashes.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  type Reply,
  receiptIdOf,
  runningClock,
  startTestService,
  type TestService,
} from './service.ts';

const PERIOD = 50;

let anvil: TestAnvil;
beforeAll(async () => {
  anvil = await startAnvil();
});
afterAll(() => anvil.stop());

describe.each(DATABASES)('from a hash to its anchor, on %s and a real chain', (database) => {
  let service: TestService;
  let key: { authorization: string };
  let pending: { standard: Reply; nano: Reply; hash: Reply };
  let anchored: Reply;

  beforeAll(async () => {
    service = await startTestService({
      database,
      clock: runningClock(),
      env: {
        TALLY_CHAIN_RPC_URL: anvil.rpcUrl,
        TALLY_CHAIN_NETWORK: `net-${database}`,
        TALLY_ANCHOR_PERIOD_SECONDS: String(PERIOD),
      },
    });
    key = await apiKey(service, 'pro');
    const address = service.services.chain?.address;
    await anvil.rpc('anvil_setBalance', address, `0x${(10n ** 18n).toString(16)}`);
    const { clock } = service;
    // To the start of a period, so that all three are of one batch.
    clock.advance(PERIOD * 1000 - (clock() % (PERIOD * 1000)));
    pending = {
      hash: await service.post('/v1/anchor', { canonical_sha256: hashOf('x') }, key),
      standard: await service.post('/v1/receipt/emit', { input: 'x', anchor: true }, key),
      nano: await service.post('/v1/receipt/emit?profile=nano', { input: 'x', anchor: true }, key),
    };
    clock.advance(PERIOD * 1000);
    anchored = await vi.waitFor(
      async () => {
        const reply = await service.get(`/v1/anchor/by-hash/${hashOf('x')}`);
        if (!('merkle_root' in reply.json)) throw new Error(`Still pending: ${reply.text}`);
        return reply;
      },
      { timeout: 60_000, interval: 100 },
    );
  });
  afterAll(() => service.close());

  const checks = ({ json }: Reply) =>
    Object.fromEntries(
      (json.checks as { name: string; ok: boolean | null }[]).map(({ name, ok }) => [name, ok]),
    );
  const readReceipt = (reply: Reply) => service.get(`/v1/receipt/${receiptIdOf(reply.text)}`);
  const all = { anchor: true, anchor_checkpoint: true, anchor_transaction: true };

  it('answers exactly the anchored result, which may be kept', async () => {
    const result = readAnchoredResult(anchored.json);
    expect(anchored.json).toEqual({
      anchor_ref: `urn:anchor:net-${database}:${result.block_height}:${result.tx_hash}:0`,
      network: `net-${database}`,
      block_height: expect.any(Number),
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      merkle_root: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      merkle_path: expect.any(Array),
      verified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      leaf_index: 0,
      tree_size: 3,
      checkpoint: expect.stringContaining('127.0.0.1:8787\n3\n'),
    });
    expect(anchored.headers.get('cache-control')).toBe('public, max-age=86400');
  });

  it('is found by both references, and answered to whoever sends the hash again', async () => {
    const refs = [pending.hash.json.anchor_ref, anchored.json.anchor_ref] as string[];
    for (const ref of refs) expect((await service.get(`/v1/anchor/${ref}`)).json).toEqual(anchored.json);
    const again = await service.post(
      '/v1/anchor',
      { canonical_sha256: hashOf('x') },
      await apiKey(service, 'pro'),
    );
    expect(again.json).toEqual(anchored.json);
    const batch = await service.post(
      '/v1/anchor/batch',
      { canonical_sha256: [hashOf('x'), hashOf('new')] },
      key,
    );
    expect((batch.json.results as JsonValue[])[0]).toEqual(anchored.json);
    expect((batch.json.results as JsonObject[])[1]).toHaveProperty('eta_seconds');
    const swapped = refs[1]?.replace(/:0$/, ':1') ?? '';
    expect((await service.get(`/v1/anchor/${swapped}`)).json).toMatchObject({ leaf_index: 1 });
    expectProblem(await service.get(`/v1/anchor/${refs[1]?.replace('net-', 'not-')}`), 'anchor_not_found');
  });

  it('the transaction posts the root of the checkpoint, from the account of the trust bundle', async () => {
    const { tx_hash, merkle_root, tree_size } = anchored.json as unknown as AnchoredResult;
    const transaction = (await anvil.rpc('eth_getTransactionByHash', tx_hash)) as {
      input: string;
      from: string;
    };
    const posted = decodePosting(fromHex(transaction.input.slice(2)));
    expect(`sha256:${toHex(posted?.root ?? new Uint8Array())}`).toBe(merkle_root);
    expect(posted?.size).toBe(tree_size);
    const { bundle } = await checkTrustBundle((await service.get('/.well-known/trust.json')).json, {
      now: service.clock(),
    });
    expect(bundle.chain).toEqual({
      network: `net-${database}`,
      chain_id: 31_337,
      address: service.services.chain?.address,
    });
    expect(bundle.chain?.address.toLowerCase()).toBe(transaction.from);
  });

  it('the posting is listed with its root and where the chain has it', async () => {
    const { tx_hash, block_height, merkle_root, tree_size } = anchored.json as unknown as AnchoredResult;
    const { json } = await service.get('/v1/log/postings?limit=1');
    const block = (await anvil.rpc('eth_getBlockByNumber', `0x${block_height.toString(16)}`, false)) as {
      timestamp: string;
    };
    const { scheduled_at, ...posting } = (json.postings as Record<string, unknown>[])[0] ?? {};
    expect(posting).toEqual({
      sequence: 1,
      tree_size,
      merkle_root,
      state: 'finalized',
      tx_hash,
      block_height,
      block_time: new Date(Number(block.timestamp) * 1000).toISOString().replace('.000Z', 'Z'),
    });
    expect(Date.parse(String(scheduled_at)) % (PERIOD * 1000)).toBe(0);
  });

  it('a receipt is read with its anchor, which the service takes for final and a stranger checks offline', async () => {
    const read = await readReceipt(pending.standard);
    const { anchor, anchor_ref, ...rest } = read.json as JsonObject & { anchor: JsonObject };
    const { anchor_ref: _pending, ...before } = pending.standard.json;
    expect(rest).toEqual(before);
    expect(anchor_ref).toBe(anchor.anchor_ref);
    expect(anchor).toEqual((await service.get(`/v1/anchor/${anchor_ref as string}`)).json);
    expect(read.headers.get('x-anchor-ref')).toBe(anchor_ref);

    const verdict = await service.post('/v1/receipt/verify', read.text);
    expect(verdict.json).toMatchObject({ valid: true, issuer: { trusted: true } });
    expect(checks(verdict)).toMatchObject(all);
    const { bundle } = await checkTrustBundle((await service.get('/.well-known/trust.json')).json, {
      now: service.clock(),
    });
    const trust = trustOf(bundle.issuers, [bundle]);
    const offline = await verify(JSON.parse(read.text), { now: service.clock(), trust });
    expect(offline.checks).toContainEqual(expect.objectContaining({ name: 'anchor_checkpoint', ok: true }));
    expect(offline.checks).toContainEqual(expect.objectContaining({ name: 'anchor_transaction', ok: null }));
  });

  it('a nano receipt stays as it is; its reference is in the header, and verify takes the result beside it', async () => {
    const read = await readReceipt(pending.nano);
    expect(read.text).toBe(pending.nano.text);
    const ref = read.headers.get('x-anchor-ref');
    expect(ref).toMatch(new RegExp(`^urn:anchor:net-${database}:`));
    const { json: anchor } = await service.get(`/v1/anchor/${ref}`);
    const receipt = JSON.parse(read.text);
    const good = await service.post('/v1/receipt/verify', { receipt, anchor });
    expect(good.json.valid).toBe(true);
    expect(checks(good)).toMatchObject(all);

    const others = await service.post('/v1/receipt/verify', { receipt, anchor: anchored.json });
    expect(others.json).toMatchObject({ valid: false, integrity: true });
    expect(checks(others)).toMatchObject({ anchor: false });
    const batch = await service.post('/v1/receipts/verify', { receipts: [{ receipt, anchor }, { receipt }] });
    expect(batch.json.results).toMatchObject([{ valid: true }, { valid: true }]);
  });

  it('an anchor of a transaction that the service did not post is left to the chain', async () => {
    const tx_hash = `0x${'0'.repeat(64)}`;
    const { json } = await readReceipt(pending.standard);
    const anchor = json.anchor as JsonObject;
    const anchor_ref = (anchor.anchor_ref as string).replace(anchor.tx_hash as string, tx_hash);
    const verdict = await service.post('/v1/receipt/verify', {
      receipt: json,
      anchor: { ...anchor, tx_hash, anchor_ref },
    });
    expect(checks(verdict)).toMatchObject({ ...all, anchor_transaction: null });
  });

  it('the tlog-proof of the newest checkpoint is given beside it', async () => {
    const { text } = await service.get(`/v1/anchor/${anchored.json.anchor_ref as string}`, {
      accept: 'text/plain',
    });
    expect(parseTlogProof(text).index).toBe(0);
  });

  it('the status and the metrics follow, and nothing of it is lost over a restart', async () => {
    const status = (await service.get('/v1/log')).json;
    expect(status).toMatchObject({ anchored_size: 3, posting: 'ok' });
    const metrics = async () => (await service.get('/metrics')).text;
    await expect.poll(metrics).toContain('anchor_log_anchored_size 3');
    await expect.poll(metrics).toContain('anchor_posting_state{state="finalized"} 1');
    await service.restart();
    expect((await service.get(`/v1/anchor/by-hash/${hashOf('x')}`)).json).toEqual(anchored.json);
    expect((await service.get('/.well-known/trust.json')).json.version).toBe(1);
  });

  it('no second posting key is made where the database has postings', async () => {
    const { postingKeyFile } = service.config.chain;
    renameSync(postingKeyFile, `${postingKeyFile}.away`);
    await expect(openServices(service.config, service.clock)).rejects.toThrow(
      `There is no posting key at ${postingKeyFile}, but the database has postings of another account.`,
    );
    expect(existsSync(postingKeyFile)).toBe(false);
    renameSync(`${postingKeyFile}.away`, postingKeyFile);
  });
});
