import { describe, expect, test } from 'vitest';
import { summarize } from './metrics.ts';
import { bucketsOf, rangeBefore, rangeIn } from './range.ts';

const NOW = Date.UTC(2027, 2, 1, 12, 34, 56) / 1_000;
const range = (query: string) => rangeIn(new URLSearchParams(query), NOW);

describe('the range in an address', () => {
  test.each([
    ['', 'hour', 25],
    ['range=1h', 'minute', 61],
    ['range=7d', 'hour', 169],
    ['range=90d', 'day', 91],
    ['range=nothing', 'hour', 25],
    ['from=1000&to=4000', 'minute', 51],
    ['from=4000&to=1000', 'hour', 25],
    ['from=x&to=1000', 'hour', 25],
  ])('%s has buckets of a(n) %s, %i of them', (query, bucket, count) => {
    const found = range(query);
    expect([found.bucket, bucketsOf(found).length]).toEqual([bucket, count]);
  });

  test('ends where the next one begins', () => {
    const found = range('range=7d');
    expect(rangeBefore(found)).toEqual({ ...found, from: 2 * found.from - found.to, to: found.from });
  });
});

test('counts stand in their buckets, and the latency is the middle one of all calls', () => {
  const found = range('range=1h');
  const row = (minute: number, calls: number, p95_ms: number | null) => ({
    at: new Date((found.from + minute * 60) * 1_000).toISOString(),
    by: null,
    calls,
    errors: 1,
    cost_usdc: '0.100000001',
    saving_usdc: '0',
    p50_ms: null,
    p95_ms,
  });
  const summary = summarize([row(1, 1, 9_000), row(3, 5, 200), row(5, 2, 300), row(7, 1, null)], found);
  expect(summary.calls.slice(0, 8)).toEqual([0, 1, 0, 5, 0, 2, 0, 1]);
  expect(summary.p95.slice(0, 8)).toEqual([null, 9_000, null, 200, null, 300, null, null]);
  expect(summary.total).toMatchObject({ calls: 9, errors: 4, latency: 200 });
  expect(summary.costUsdc).toBe('0.400000004');
});
