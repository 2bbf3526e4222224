import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linearScale, logScale, roundTicks } from './scale.ts';

describe('a scale', () => {
  test('puts the ends of its domain at the ends of its range, whichever way they run', () => {
    const down = linearScale([0, 1], [300, 20], []);
    expect([down(0), down(0.5), down(1)]).toEqual([300, 160, 20]);
    const log = logScale([0.5, 0.125], [0, 100], []);
    for (const [value, place] of [
      [0.5, 0],
      [0.25, 50],
      [0.125, 100],
    ] as const) {
      expect(log(value)).toBeCloseTo(place, 9);
    }
  });
});

test('a domain of one value is no division by zero', () => {
  expect(linearScale([3, 3], [10, 20], [])(3)).toBe(10);
});

describe('round ticks', () => {
  test.each([
    [[0, 1], 4, [0, 0.25, 0.5, 0.75, 1]],
    [[0.1, 0.3], 2, [0.1, 0.2, 0.3]],
    [[-0.012, 0.071], 5, [-0.02, 0, 0.02, 0.04, 0.06, 0.08]],
    [[0.5], 4, [0.5, 0.6]],
    [[0], 4, [0, 0.1]],
  ])('of %j in %i steps', (values, count, ticks) => {
    expect(roundTicks(values, count)).toEqual(ticks);
  });

  test('take in every value, in even steps, and not too many', () => {
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true, noDefaultInfinity: true });
    const rounded = value.map((number) => Number(number.toFixed(4)));
    fc.assert(
      fc.property(fc.array(rounded, { minLength: 1 }), fc.integer({ min: 2, max: 10 }), (values, count) => {
        const ticks = roundTicks(values, count);
        const [first = 0, second = 0] = ticks;
        const step = second - first;
        expect(step).toBeGreaterThan(0);
        expect(ticks.length).toBeLessThanOrEqual(count + 1);
        expect(first).toBeLessThanOrEqual(Math.min(...values) + step * 1e-6);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(Math.max(...values) - step * 1e-6);
        for (const [index, tick] of ticks.entries()) expect(tick).toBeCloseTo(first + index * step, 4);
      }),
    );
  });
});
