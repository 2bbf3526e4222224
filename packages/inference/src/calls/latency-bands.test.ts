import { describe, expect, it } from 'vitest';
import { bandOf, bandStarts, percentile, UNKNOWN_BAND } from './latency-bands.ts';

describe('the band of a latency', () => {
  it.each([
    [null, UNKNOWN_BAND],
    [0, 0],
    [0.99, 0],
    [1, 1],
    [1.18, 1],
    [1.19, 2],
    [2, 5],
    [1_024, 41],
    [1e12, 100],
  ])('of %s ms is %s', (ms, band) => {
    expect(bandOf(ms)).toBe(band);
  });

  it('never falls as the latency rises', () => {
    let before = 0;
    for (let ms = 0; ms < 5_000; ms += 0.25) {
      expect(bandOf(ms)).toBeGreaterThanOrEqual(before);
      before = bandOf(ms);
    }
  });
});

it('begins at the least whole number of milliseconds that is in it', () => {
  const starts = bandStarts();
  expect(starts.slice(0, 5)).toEqual([
    [0, 0],
    [1, 1],
    [5, 2],
    [7, 3],
    [9, 4],
  ]);
  expect(starts.at(-1)?.[0]).toBe(100);
  const before = starts.slice(1).map(([, ms], at) => [starts[at]?.[0], bandOf(ms - 1)]);
  for (const [band, of] of before) expect(of).toBe(band);
  for (const [band, ms] of starts) expect(bandOf(ms)).toBe(band);
});

describe('a percentile', () => {
  const of = (latencies: readonly number[], share: number): number | null => {
    const bands = new Map<number, number>();
    for (const ms of latencies) bands.set(bandOf(ms), (bands.get(bandOf(ms)) ?? 0) + 1);
    return percentile(bands, share);
  };

  it('of no calls is not known', () => {
    expect(of([], 0.5)).toBeNull();
  });

  it.each([0.05, 0.5, 0.9, 0.95, 0.99])('of %s is off by at most a tenth', (share) => {
    // Latencies spread evenly over their logarithm, from 10 ms to 10 s.
    const latencies = Array.from({ length: 4_000 }, (_, at) => 10 ** (1 + (3 * at) / 4_000));
    const exact = latencies[Math.ceil(share * latencies.length) - 1] ?? 0;
    expect(Math.abs((of(latencies, share) ?? 0) - exact) / exact).toBeLessThan(0.1);
  });

  it('lies in the band of the calls, also where they all have one, and does not depend on their order', () => {
    const median = of([300, 300, 300], 0.5) ?? 0;
    expect(bandOf(median)).toBe(bandOf(300));
    expect(of([1, 5_000, 40], 0.5)).toBe(of([40, 1, 5_000], 0.5));
    expect(of([0.2, 0.4], 1)).toBe(1);
  });
});
