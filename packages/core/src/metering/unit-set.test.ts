import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { UnitSet } from './unit-set.ts';

test('holds exactly the units that were added, at every size', () => {
  const cases = fc
    .integer({ min: 1, max: 10_000_000 })
    .chain((billed) =>
      fc.tuple(fc.constant(billed), fc.array(fc.integer({ min: 1, max: billed }), { maxLength: 50 })),
    );
  fc.assert(
    fc.property(cases, ([billed, units]) => {
      const set = new UnitSet(billed);
      const added = new Set<number>();
      for (const unit of units) {
        expect(set.has(unit)).toBe(added.has(unit));
        set.add(unit);
        added.add(unit);
        const near = [unit - 8, unit - 1, unit + 1, unit + 8].filter(
          (other) => other >= 1 && other <= billed,
        );
        for (const other of near) expect(set.has(other)).toBe(added.has(other));
      }
      for (const unit of units) expect(set.has(unit)).toBe(true);
    }),
  );
});
