import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bar } from './progress-line.ts';

test('a bar is full only for all, and empty only for nothing', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), fc.nat(), (billed, any) => {
      const backed = any % (billed + 1);
      const cells = bar(backed / billed, 30);
      expect(cells).toHaveLength(30);
      expect([cells.includes('░'), cells.includes('█')]).toEqual([backed < billed, backed > 0]);
    }),
  );
});
