import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { apart } from './apart.ts';

test('what touches is moved up, in its order', () => {
  expect(apart([100, 20, 104], 10, 200)).toEqual([94, 20, 104]);
  expect(apart([199, 198], 10, 190)).toEqual([190, 180]);
  expect(apart([], 10, 200)).toEqual([]);
});

test('nothing overlaps, the order stays, and nothing is below the floor', () => {
  const heights = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 8 });
  fc.assert(
    fc.property(heights, (given) => {
      const moved = apart(given, 17, 300);
      const order = given.map((_, index) => index).sort((a, b) => (given[a] ?? 0) - (given[b] ?? 0));
      const sorted = order.map((index) => moved[index] ?? 0);
      expect(sorted.at(-1) ?? 0).toBeLessThanOrEqual(300);
      for (const [index, height] of sorted.slice(1).entries()) {
        expect(height - (sorted[index] ?? 0)).toBeGreaterThanOrEqual(17);
      }
    }),
  );
});
