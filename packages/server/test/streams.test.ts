import {
  checkTrustBundle,
  createSigner,
  fromHex,
  generateSecretKey,
  judgeStream,
  readStreamHead,
  type StreamHead,
  sha256Hex,
  signRequest,
  TallyError,
  trustOf,
  utf8,
} from '@tallystick/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signDailyHeads } from '../../receipts/src/streams/heads.ts';
import { collect } from '../../store/test/test-database.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  runningClock,
  startTestService,
  type TestService,
} from './service.ts';

let service: TestService;
afterEach(() => service.close());

describe.each(DATABASES)('a stream on %s', (database) => {
  it('is opened by the first head that a key asks for, and is nobody else’s', async () => {
    service = await startTestService({ database, clock: runningClock() });
    const [own, other] = [await apiKey(service, 'scale'), await apiKey(service, 'scale')];
    const emit = (input: string) => service.post('/v1/receipt/emit?profile=standard', { input }, own);
    await emit('before');
    expectProblem(await service.get('/v1/stream', own), 'stream_not_found');
    const first = (await service.post('/v1/stream/heads', undefined, own)).json as unknown as StreamHead;
    expect(first).toMatchObject({ count: 0, previous_sha256: null });
    for (const input of ['one', 'two', 'three']) await emit(input);
    const second = (await service.post('/v1/stream/heads', undefined, own)).json as unknown as StreamHead;
    const part = (await service.get('/v1/stream', own)).json as unknown as {
      hashes: string[];
      heads: StreamHead[];
    };
    expect(part).toMatchObject({ stream: first.stream, count: 3, first: 1, heads: [first, second] });
    expectProblem(await service.get('/v1/stream', other), 'stream_not_found');
    for (const [query, range] of [
      ['first=2', [1, 3]],
      ['limit=1', [0, 1]],
      ['first=2&limit=1', [1, 2]],
      ['first=3&limit=5000', [2, 3]],
      ['first=4', [3, 3]],
      ['first=999999999999999&limit=1', [3, 3]],
    ] as const) {
      const asked = new URLSearchParams(query).get('first') ?? '1';
      const { json } = await service.get(`/v1/stream?${query}`, own);
      expect(json, query).toMatchObject({ first: Number(asked), hashes: part.hashes.slice(...range) });
    }
    for (const query of ['first=0', 'first=1e3', 'first=-1', 'first=', 'limit=0', 'limit=5001', 'limit=1.5'])
      expectProblem(await service.get(`/v1/stream?${query}`, own), 'invalid_field', query.split('=')[0]);

    const bundle = (await service.get('/.well-known/trust.json')).json;
    const { bundle: trusted } = await checkTrustBundle(bundle, { now: service.clock() });
    const trust = trustOf(trusted.issuers, [trusted]);
    const heads = await Promise.all(part.heads.map((head) => readStreamHead(head, { trust })));
    const { hashes } = part;
    const given = hashes.map((sha256) => ({ sha256, issuedAt: Math.floor(service.clock() / 1000) }));
    expect(judgeStream({ heads, from: 0, hashes, given })).toMatchObject({
      complete: true,
      last: 3,
      given: 3,
    });
    expect(judgeStream({ heads, from: 0, hashes, given: given.slice(1) }).faults).toMatchObject([
      { kind: 'left_out', index: 1 },
    ]);
  });

  it('has its daily head in the log, also where the log refused it first, as have the other streams', async () => {
    service = await startTestService({ database, clock: runningClock() });
    const { store, issuer, log, clock } = service.services;
    for (const name of ['one', 'two']) {
      const own = await apiKey(service, 'scale');
      await service.post('/v1/stream/heads', undefined, own);
      service.clock.advance(2_000);
      await service.post('/v1/receipt/emit?profile=standard', { input: name }, own);
    }
    service.clock.advance(86_400_000);
    const grown = await collect(store.streams.grown());
    const newest = () => Promise.all(grown.map(({ id }) => store.streams.newestHead(id)));
    const sequences = async () => (await newest()).map((head) => head?.sequence);
    vi.spyOn(log, 'accept').mockRejectedValueOnce(new TallyError('anchor_unavailable', 'Full.'));
    const run = () => signDailyHeads({ store, issuer, log, clock });
    await expect(run()).rejects.toMatchObject({ code: 'anchor_unavailable' });
    expect(await sequences()).toEqual([1, 2]);
    await run();
    expect(await sequences()).toEqual([2, 2]);
    for (const head of await newest()) {
      const hash = fromHex(sha256Hex(utf8(head?.body ?? '')), 32);
      expect(await store.log.findLeaf(hash)).not.toBeNull();
    }
  });

  it('counts what a DID was issued, for its signed requests alone', async () => {
    service = await startTestService({ database, clock: runningClock() });
    const signer = await createSigner(generateSecretKey());
    let requests = 0;
    const headersFor = async (method: string, path: string, body = '') => {
      const request = { method, url: new URL(service.config.receiptsUrl + path), body: utf8(body) };
      requests += 1;
      const created = Math.floor(service.clock() / 1000);
      return signRequest(request, { did: signer.keyId, signer }, { created, nonce: `${requests}` });
    };
    const asked = async (method: 'get' | 'post', path: string, body?: string) => {
      const headers = await headersFor(method.toUpperCase(), path, body);
      return method === 'get' ? service.get(path, headers) : service.post(path, body, headers);
    };
    const emit = (input: string) =>
      asked('post', '/v1/receipt/emit?profile=standard', JSON.stringify({ input }));
    expect((await asked('post', '/v1/stream/heads')).json).toMatchObject({ count: 0 });
    for (const input of ['one', 'two']) expect((await emit(input)).status).toBe(200);
    expect((await asked('post', '/v1/stream/heads')).json).toMatchObject({ count: 2 });
    expect((await asked('get', '/v1/stream')).json).toMatchObject({
      stream: expect.stringContaining(signer.keyId),
      count: 2,
      hashes: [expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(String)],
    });
    // The name alone opens nothing.
    const named = await service.get('/v1/stream', { 'x-agent-did': signer.keyId });
    expect(named.status).toBeGreaterThanOrEqual(400);
  });
});
