import { checkTrustBundle, judgeStream, readStreamHead, type StreamHead, trustOf } from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
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
});
