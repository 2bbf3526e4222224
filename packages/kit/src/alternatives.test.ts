import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { alternatives } from './alternatives.ts';

it('lists names as Intl.ListFormat does', () => {
  const format = new Intl.ListFormat('en-GB', { type: 'disjunction' });
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 6 }), (names) => {
      expect(alternatives(names)).toBe(format.format(names));
    }),
  );
});
