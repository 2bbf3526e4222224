import { parseTlogProof } from '@tallystick/core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { hashOf } from './hashes.ts';
import { apiKey, DATABASES, expectProblem, startTestService, type TestService } from './service.ts';

const ANCHOR = '/v1/anchor';
const BATCH = '/v1/anchor/batch';

describe.each(DATABASES)('anchoring on %s', (database) => {
  let service: TestService;
  let key: { authorization: string };
  beforeAll(async () => {
    service = await startTestService({ database });
    key = await apiKey(service, 'scale');
  });
  afterAll(() => service.close());

  const send = (text: string, headers = {}) =>
    service.post(ANCHOR, { canonical_sha256: hashOf(text) }, { ...key, ...headers });

  it('answers exactly the pending result', async () => {
    const { status, json, headers } = await send('first');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(json).toEqual({
      anchor_ref: 'urn:anchor:pending:2027-03-01T12:00Z:0',
      batch_id: '2027-03-01T12:00Z',
      eta_seconds: 10,
    });
  });

  it('gives a hash one place, whoever sends it and however often', async () => {
    const first = await send('same', { 'idempotency-key': 'a' });
    const other = await apiKey(service, 'pro');
    for (const headers of [{}, { 'idempotency-key': 'a' }, other]) {
      expect((await send('same', headers)).json).toEqual(first.json);
    }
    expectProblem(await send('same', { 'idempotency-key': 'a b' }), 'idempotency_key_invalid');
  });

  it('places a batch in its order, hashes that come twice and known ones too', async () => {
    const known = (await send('known')).json;
    const texts = ['b1', 'b2', 'known', 'b1', 'b3'].map(hashOf);
    const { status, json } = await service.post(BATCH, { canonical_sha256: texts }, key);
    expect(status).toBe(200);
    const results = json.results as { anchor_ref: string }[];
    const [b1, b2, again, twice, b3] = results.map(({ anchor_ref }) =>
      Number.parseInt(anchor_ref.split(':').at(-1) ?? '', 36),
    );
    expect(results[2]).toEqual(known);
    expect(twice).toBe(b1);
    expect([b2, b3]).toEqual([Number(b1) + 1, Number(b1) + 2]);
    expect(again).toBe(Number(b1) - 1);
  });

  it('takes 10,000 in a batch and refuses 10,001', async () => {
    const texts = Array.from({ length: 10_001 }, (_, i) => hashOf(`many ${i}`));
    const refused = await service.post(BATCH, { canonical_sha256: texts }, key);
    expectProblem(refused, 'too_many_hashes', 'canonical_sha256');
    const { json } = await service.post(BATCH, { canonical_sha256: texts.slice(1) }, key);
    expect(json.results).toHaveLength(10_000);
    expectProblem(await service.get(`/v1/anchor/by-hash/${texts[0]}`), 'anchor_not_found');
  });

  it('finds what was accepted by its reference, escaped or not, and by its hash; nobody else may keep it', async () => {
    const sent = await send('look me up');
    const { anchor_ref } = sent.json as { anchor_ref: string };
    for (const path of [
      `/v1/anchor/${anchor_ref}`,
      `/v1/anchor/${encodeURIComponent(anchor_ref)}`,
      `/v1/anchor/by-hash/${hashOf('look me up')}`,
    ]) {
      const found = await service.get(path);
      expect(found.status, path).toBe(200);
      expect(found.json).toEqual(sent.json);
      expect(found.headers.get('cache-control')).toBe('no-store');
      expect(found.headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  it('gives a tlog-proof as text once a checkpoint covers the hash', async () => {
    const { anchor_ref } = (await send('prove me')).json as { anchor_ref: string };
    const ask = (path: string, accept: string) => service.get(path, { accept });
    const proof = await vi.waitFor(async () => {
      const reply = await ask(`/v1/anchor/${anchor_ref}`, 'text/plain');
      expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      // The witnesses cosign after it is published.
      expect(reply.text.match(/^— /gm)).toHaveLength(3);
      return reply;
    }, 60_000);
    expect(proof.headers.get('vary')).toBe('Accept');
    const { index, checkpoint } = parseTlogProof(proof.text);
    expect(index.toString(36)).toBe(anchor_ref.split(':').at(-1));
    expect(checkpoint).toContain('127.0.0.1:8787\n');
    const byHash = await ask(`/v1/anchor/by-hash/${hashOf('prove me')}`, 'text/plain;q=1, */*;q=0.1');
    expect(byHash.text).toBe(proof.text);
    for (const accept of ['*/*', 'text/html,application/xhtml+xml', 'text/plain, application/json']) {
      expect((await ask(`/v1/anchor/${anchor_ref}`, accept)).headers.get('content-type')).toBe(
        'application/json',
      );
    }
  });
});

describe('bad input', () => {
  let service: TestService;
  let key: { authorization: string };
  beforeAll(async () => {
    service = await startTestService();
    key = await apiKey(service, 'pro');
    await service.post(ANCHOR, { canonical_sha256: hashOf('x') }, key);
  });
  afterAll(() => service.close());

  const good = hashOf('x');
  const hex = Buffer.from(good, 'base64url').toString('hex');
  it.each([
    ['an empty text', '', /0 characters/],
    ['hex', hex, /hex/],
    ['hex in capitals', hex.toUpperCase(), /hex/],
    ['hex with its name', `sha256:${hex}`, /hex/],
    ['padding', `${good}=`, /padding/],
    ['base64 with padding', `${good.slice(1)}+=`, /padding/],
    ['base64', `${good.slice(1, -1)}/A`, /base64/],
    ['31 bytes', hashOf('x').slice(0, 42), /42 characters/],
    ['33 bytes', `${good}A`, /44 characters/],
    ['unused bits that are not zero', `${good.slice(0, -1)}B`, /bits/],
    ['white space', ` ${good.slice(1)}`, /43 characters/],
    ['another alphabet', `é${good.slice(1)}`, /43 characters/],
  ])('%s is no hash', async (_, text, detail) => {
    const one = await service.post(ANCHOR, { canonical_sha256: text }, key);
    expectProblem(one, 'invalid_base64url', 'canonical_sha256');
    expect(one.json.detail).toMatch(detail);
    const body = { canonical_sha256: [good, text, good] };
    expectProblem(await service.post(BATCH, body, key), 'invalid_base64url', 'canonical_sha256[1]');
    if (text === '') return;
    const found = await service.get(`/v1/anchor/by-hash/${encodeURIComponent(text)}`);
    expectProblem(found, 'invalid_base64url', 'hash');
  });

  it('a batch with a bad hash places none', async () => {
    const body = { canonical_sha256: [hashOf('placed?'), 'x'] };
    expectProblem(await service.post(BATCH, body, key), 'invalid_base64url', 'canonical_sha256[1]');
    expectProblem(await service.get(`/v1/anchor/by-hash/${hashOf('placed?')}`), 'anchor_not_found');
  });

  const tx = `0x${'a'.repeat(64)}`;
  it.each([
    ['an index that is not accepted', 'urn:anchor:pending:2027-03-01T12:00Z:1'],
    ['another minute', 'urn:anchor:pending:2027-03-01T12:01Z:0'],
    ['another log’s transaction', `urn:anchor:devnet:7:${tx}:0`],
    ['another network', `urn:anchor:base:7:${tx}:0`],
    ['the largest index', `urn:anchor:devnet:7:${tx}:${(2 ** 53 - 1).toString(36)}`],
  ])('a reference with %s is not found', async (_, ref) => {
    expectProblem(await service.get(`/v1/anchor/${encodeURIComponent(ref)}`), 'anchor_not_found');
  });

  it.each([
    'x',
    'urn:anchor:pending:2027-03-01T12:00Z:0:0',
    'urn:anchor:pending:2027-03-01T12:00Z:00',
    'urn:anchor:pending:2027-03-01T12:00Z:A',
    'urn:anchor:pending:2027-03-01T12:00:00Z:0',
    'urn:anchor:pending:2027-13-01T12:00Z:0',
    'URN:anchor:pending:2027-03-01T12:00Z:0',
    `urn:anchor:devnet:07:${tx}:0`,
    `urn:anchor:devnet:7:${tx.toUpperCase()}:0`,
    'urn:anchor:pending:2027-03-01T12:00Z:%00',
    '%E0%A4%A',
  ])('%s is no reference', async (ref) => {
    expectProblem(await service.get(`/v1/anchor/${ref}`), 'anchor_ref_invalid', 'anchor_ref');
  });
});

describe('when the log takes no hashes', () => {
  let service: TestService;
  afterEach(() => service.close());

  it('says so, and goes on with all else', async () => {
    service = await startTestService({
      env: { TALLY_CHAIN_RPC_URL: 'http://127.0.0.1:9', TALLY_CHAIN_NETWORK: 'far' },
    });
    const key = await apiKey(service, 'pro');
    expectProblem(await service.post(ANCHOR, { canonical_sha256: hashOf('x') }, key), 'anchor_unavailable');
    expectProblem(
      await service.post('/v1/receipt/emit', { input: 'x', anchor: true }, key),
      'anchor_unavailable',
    );
    expect((await service.post('/v1/receipt/emit', { input: 'x' }, key)).status).toBe(200);
    expect((await service.get('/v1/log')).json).toMatchObject({
      accepting: expect.stringContaining('chain'),
      chain: { network: 'far', chain_id: 31_337, address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/) },
    });
    expect((await service.get('/metrics')).text).toContain('anchor_log_accepting 0');
  });
});
