import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawnQuality } from './bandit.ts';
import { armOf } from './compare.ts';
import { beta, uniform } from './draws.ts';

const seeds = fc.stringMatching(/^[0-9a-f]{32}$/);
const SEED = '000102030405060708090a0b0c0d0e0f';
const labels = Array.from({ length: 4_000 }, (_, index) => `model ${index}`);
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('a draw', () => {
  it('follows from its seed and label, and lies between 0 and 1', () => {
    fc.assert(
      fc.property(seeds, fc.string(), (seed, label) => {
        const drawn = uniform(seed, label);
        expect(uniform(seed, label)).toBe(drawn);
        expect(drawn).toBeGreaterThanOrEqual(0);
        expect(drawn).toBeLessThan(1);
      }),
    );
  });

  it('is spread evenly', () => {
    const drawn = labels.map((label) => uniform(SEED, label));
    for (const edge of [0.1, 0.25, 0.5, 0.9])
      expect(drawn.filter((value) => value < edge).length / drawn.length).toBeCloseTo(edge, 1);
  });

  it.each([
    [0.3, 0.9],
    [1, 1],
    [2, 6],
    [50, 10],
  ])('has the mean and the spread of Beta(%d, %d)', (a, b) => {
    const drawn = labels.map((label) => beta(a, b, SEED, label));
    const mean = a / (a + b);
    expect(Math.abs(meanOf(drawn) - mean)).toBeLessThan(0.02);
    const variance = meanOf(drawn.map((value) => (value - mean) ** 2));
    const expected = (a * b) / ((a + b) ** 2 * (a + b + 1));
    expect(variance / expected).toBeGreaterThan(0.85);
    expect(variance / expected).toBeLessThan(1.15);
  });
});

describe('a drawn quality', () => {
  it('is a chance, whatever was predicted and rated', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(10_000),
        fc.double({ min: 0, max: 100, noNaN: true }),
        seeds,
        (predicted, count, mean, seed) => {
          const ratings = { count, score: Math.floor(count * mean) };
          const drawn = drawnQuality(predicted, ratings, seed, 'a/m');
          expect(drawn).toBe(drawnQuality(predicted, ratings, seed, 'a/m'));
          expect(drawn).toBeGreaterThanOrEqual(0);
          expect(drawn).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('goes from the prediction to the ratings, and varies less with each of them', () => {
    const after = (count: number) =>
      labels.slice(0, 500).map((label) => drawnQuality(0.8, { count, score: 20 * count }, SEED, label));
    expect(meanOf(after(0))).toBeCloseTo(0.8, 1);
    expect(meanOf(after(1_000))).toBeCloseTo(0.21, 1);
    const width = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
    expect(width(after(1_000))).toBeLessThan(width(after(0)) / 3);
  });
});

describe('a comparison', () => {
  it('gives an arm its share of the calls', () => {
    const arms = labels.map((seed) => armOf({ name: 'x', share: 0.2, seed }));
    expect(arms.filter((arm) => arm === 'b').length / arms.length).toBeCloseTo(0.2, 1);
    expect(labels.every((seed) => armOf({ name: 'x', share: 0, seed }) === 'a')).toBe(true);
    expect(labels.every((seed) => armOf({ name: 'x', share: 1, seed }) === 'b')).toBe(true);
  });
});
