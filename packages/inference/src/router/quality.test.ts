import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { quality } from './quality.ts';

const share = fc.integer({ min: 0, max: 1000 }).map((value) => value / 1000);
const reference = { weak: 0.6, strong: 0.8 };

it('gives the graded models what the difficulty says of them', () => {
  const difficulty = { weak: 0.4, gain: 0.3 };
  expect(quality(0.6, difficulty, reference)).toBeCloseTo(0.4);
  expect(quality(0.8, difficulty, reference)).toBeCloseTo(0.7);
});

it('is the prior where nothing is known of the prompt', () => {
  expect(quality(0.33, null, reference)).toBe(0.33);
});

it('is a chance, and never falls as the prior rises', () => {
  const gains = fc.integer({ min: -100, max: 100 }).map((value) => value / 100);
  fc.assert(
    fc.property(share, share, share, gains, (one, other, weak, gain) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const [worse, better] = [low, high].map((prior) => quality(prior, { weak, gain }, reference));
      expect(worse).toBeGreaterThan(0);
      expect(better).toBeLessThan(1);
      expect(better).toBeGreaterThanOrEqual((worse ?? 1) - 1e-12);
    }),
  );
});
