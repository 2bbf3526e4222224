import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LONGEST_RETRY_AFTER_SECONDS, retryDelay, wait } from './retry.ts';

const attempts = fc.integer({ min: 0, max: 40 });
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('retryDelay', () => {
  test.each([200, 304, 400, 401, 404, 409, 422, 500])('is none after %i', (status) => {
    expect(retryDelay({ status, retryAfter: null, final: false }, 0, 0)).toBeNull();
  });

  test.each([429, 502, 503, 504, null])('doubles its bound up to 8 s after %s', (status) => {
    const bounds = [0, 1, 2, 3, 4, 5, 6].map((made) =>
      retryDelay({ status, retryAfter: null, final: false }, made, 1),
    );
    expect(bounds).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]);
  });

  test('is anywhere from 0 to its bound', () => {
    fc.assert(
      fc.property(attempts, random, (made, r) => {
        const delay = retryDelay({ status: 503, retryAfter: null, final: false }, made, r) ?? -1;
        const bound = retryDelay({ status: 503, retryAfter: null, final: false }, made, 1) ?? -1;
        expect(delay).toBeCloseTo(r * bound, 6);
      }),
    );
  });

  test('is never sooner than the service asked', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: LONGEST_RETRY_AFTER_SECONDS }),
        attempts,
        random,
        (asked, made, r) => {
          expect(
            retryDelay({ status: 429, retryAfter: asked, final: false }, made, r),
          ).toBeGreaterThanOrEqual(asked * 1_000);
        },
      ),
    );
  });

  test('is none where the service asks for longer than anybody would wait', () => {
    expect(
      retryDelay({ status: 429, retryAfter: LONGEST_RETRY_AFTER_SECONDS + 1, final: false }, 0),
    ).toBeNull();
  });
});

describe('wait', () => {
  test('rejects with the reason of a signal that is aborted before, or meanwhile', async () => {
    const reason = new Error('enough');
    await expect(wait(60_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = wait(60_000, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});
