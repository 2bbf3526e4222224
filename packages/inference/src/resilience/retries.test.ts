import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProviderError, type ProviderErrorKind } from '../providers/provider.ts';
import { callWithRetries, type RetryPolicy } from './retries.ts';

const policy: RetryPolicy = { retries: 2, baseMs: 4, maxMs: 6, maxRetryAfterMs: 50 };

const failing = (kind: ProviderErrorKind, status?: number, retryAfterMs?: number): ProviderError =>
  new ProviderError(kind, 'failed', { status, retryAfterMs });

interface Run {
  readonly failures?: number;
  readonly signal?: AbortSignal;
  readonly random?: () => number;
}

interface Ran {
  readonly attempts: number;
  readonly waits: number[];
  readonly outcome: unknown;
}

async function run(
  error: ProviderError,
  { failures = 99, signal, random = () => 0.5 }: Run = {},
): Promise<Ran> {
  let attempts = 0;
  const waits: number[] = [];
  const attempt = async (): Promise<string> => {
    attempts += 1;
    if (attempts <= failures) throw error;
    return 'answered';
  };
  const options = {
    signal: signal ?? new AbortController().signal,
    policy,
    onRetry: (_: ProviderError, waitMs: number) => void waits.push(waitMs),
    random,
  };
  try {
    const outcome = await callWithRetries(attempt, options);
    return { attempts, waits, outcome };
  } catch (outcome) {
    return { attempts, waits, outcome };
  }
}

describe('callWithRetries', () => {
  it.each<[string, ProviderError, number]>([
    ['408', failing('timeout', 408), 3],
    ['409', failing('overloaded', 409), 3],
    ['429', failing('rate_limited', 429), 3],
    ['429 without funds', failing('auth', 429), 1],
    ['500', failing('server', 500), 3],
    ['503', failing('overloaded', 503), 3],
    ['529', failing('overloaded', 529), 3],
    ['no connection', failing('unreachable'), 3],
    ['400', failing('refused', 400), 1],
    ['401', failing('auth', 401), 1],
    ['404', failing('refused', 404), 1],
    ['no byte in time', failing('timeout'), 1],
    ['an answer cut off', failing('cut'), 1],
    ['nonsense', failing('bad_answer'), 1],
    ['an abort', failing('aborted'), 1],
  ])('after %s', async (_, error, attempts) => {
    expect(await run(error)).toMatchObject({ attempts, outcome: error });
  });

  it('resolves to what a later attempt does', async () => {
    expect(await run(failing('server', 500), { failures: 2 })).toMatchObject({
      attempts: 3,
      outcome: 'answered',
    });
  });

  it('waits longer each time, with jitter, up to a limit', async () => {
    expect((await run(failing('server', 500), { random: () => 1 })).waits).toStrictEqual([4, 6]);
    expect((await run(failing('server', 500), { random: () => 0 })).waits).toStrictEqual([0, 0]);
  });

  it('waits at least as long as it is asked to, or does not retry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(15), fc.double({ min: 0, max: 0.999, noNaN: true }), async (after, jitter) => {
        const { waits } = await run(failing('rate_limited', 429, after), {
          failures: 1,
          random: () => jitter,
        });
        expect(waits).toHaveLength(1);
        expect(waits[0]).toBeGreaterThanOrEqual(after);
      }),
      { numRuns: 20 },
    );
    expect((await run(failing('rate_limited', 429, 51))).attempts).toBe(1);
  });

  it('stops waiting when the signal aborts', async () => {
    const { outcome } = await run(failing('rate_limited', 429, 40), { signal: AbortSignal.timeout(5) });
    expect(outcome).toMatchObject({ kind: 'aborted' });
  });

  it('passes on what is no ProviderError', async () => {
    const fault = new TypeError('a fault of ours');
    const calling = callWithRetries(() => Promise.reject(fault), { signal: new AbortController().signal });
    await expect(calling).rejects.toBe(fault);
  });
});
