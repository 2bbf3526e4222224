import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createClient } from '../client.ts';
import { pollDelay } from './wait-for-anchor.ts';

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('pollDelay', () => {
  test('is when the batch is due, and at most a tenth more, within its bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(100), random, (eta, overdue, at) => {
        const due = Math.min(300_000, eta * 1_000);
        const delay = pollDelay(eta, overdue, at);
        expect(delay).toBeGreaterThanOrEqual(due);
        expect(delay).toBeLessThanOrEqual(due * 1.1);
      }),
    );
  });

  test('doubles once that is past, up to 30 s', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 2_000].map((overdue) => pollDelay(0, overdue, 0) / 1_000);
    expect(delays).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });
});

describe('waitForAnchor', () => {
  const ref = 'urn:anchor:pending:2026-11-21T10:00Z:1z';
  const pending = (eta_seconds: number) => ({ anchor_ref: ref, batch_id: '2026-11-21T10:00Z', eta_seconds });
  const anchored = { anchor_ref: `urn:anchor:devnet:7:0x${'ab'.repeat(32)}:1z`, merkle_root: 'sha256:00' };
  const busy = { status: 503, code: 'unavailable' };
  const unknown = { status: 404, code: 'anchor_not_found' };

  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A client whose service gives these answers, the last one for ever, and when each was asked for, in seconds. */
  function told(...answers: readonly object[]) {
    const asked: { readonly path: string; readonly at: number }[] = [];
    const started = performance.now();
    const fetch = async (url: string) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)];
      asked.push({ path: new URL(url).pathname, at: (performance.now() - started) / 1_000 });
      const status = answer !== undefined && 'status' in answer ? Number(answer.status) : 200;
      return Response.json(answer, { status });
    };
    return { asked, client: createClient({ baseUrl: 'https://anchors.example', fetch, retries: 0 }) };
  }

  /** What became of the promise, after as many timers as it takes. */
  async function settled<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
    const outcome = Promise.allSettled([promise]);
    await vi.runAllTimersAsync();
    return (await outcome)[0];
  }

  test('asks when the batch is due, and then until it is anchored', async () => {
    const { asked, client } = told(pending(60), pending(0), pending(0), anchored);
    expect(await settled(client.waitForAnchor(ref))).toEqual({ status: 'fulfilled', value: anchored });
    const [first, second, third, fourth] = asked.map(({ at }) => at);
    expect([first, asked.length]).toEqual([0, 4]);
    expect(second).toBeGreaterThanOrEqual(60);
    expect(second).toBeLessThan(67);
    expect((third ?? 0) - (second ?? 0)).toBeLessThan(1.3);
    expect((fourth ?? 0) - (third ?? 0)).toBeGreaterThanOrEqual(2);
  });

  test.each([
    [ref, '/v1/anchor/urn%3Aanchor%3Apending%3A2026-11-21T10%3A00Z%3A1z'],
    ['00'.repeat(32), `/v1/anchor/by-hash/${'A'.repeat(43)}`],
  ])('takes a reference or a hash: %s', async (given, path) => {
    const { asked, client } = told(anchored);
    expect(await client.waitForAnchor(given)).toEqual(anchored);
    expect(asked.map((one) => one.path)).toEqual([path]);
  });

  test('tells when it is still pending in the end, having looked once more', async () => {
    const { asked, client } = told(pending(3_000));
    const outcome = await settled(client.waitForAnchor(ref, { timeoutMs: 10_000 }));
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { code: 'unavailable', status: null, retryAfter: 3_000 },
    });
    expect(asked.map(({ at }) => Math.floor(at))).toEqual([0, 10]);
  });

  test('waits for a service that is away, once it is known to be pending', async () => {
    const { asked, client } = told(pending(1), busy, busy, anchored);
    expect(await settled(client.waitForAnchor(ref))).toMatchObject({ status: 'fulfilled' });
    expect(asked).toHaveLength(4);
  });

  test.each([
    ['is away from the start', [busy], 'unavailable'],
    ['does not know it', [unknown], 'anchor_not_found'],
    ['knows it no more', [pending(1), unknown], 'anchor_not_found'],
  ])('gives up at once where the service %s', async (_, answers, code) => {
    const { asked, client } = told(...answers);
    const outcome = await settled(client.waitForAnchor(ref));
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code } });
    expect(asked).toHaveLength(answers.length);
  });

  test('an abort ends it while it waits', async () => {
    const { asked, client } = told(pending(60));
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 5_000);
    const outcome = await settled(client.waitForAnchor(ref, { signal: controller.signal }));
    expect(outcome).toEqual({ status: 'rejected', reason });
    expect([asked.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});
