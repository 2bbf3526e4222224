import { expect, test } from 'vitest';
import { meaningsOf, nearTo } from './related.ts';
import { termsOf } from './terms.ts';

const nearness = (term: string, other: string): number => {
  const [[, near] = [other, 0]] = nearTo(termsOf(term)[0] ?? '', meaningsOf(termsOf(other)));
  return near;
};

test.each([
  ['luggage', 'suitcase', 'orchestra'],
  ['doctor', 'hospital', 'keyboard'],
  ['salary', 'wages', 'river'],
  ['restaurant', 'bakery', 'lawsuit'],
])('%s is nearer to %s than to %s', (term, near, far) => {
  expect(nearness(term, near)).toBeGreaterThan(nearness(term, far));
  expect(nearness(term, near)).toBeLessThanOrEqual(1);
});

test('is the same both ways', () => {
  expect(nearness('doctor', 'hospital')).toBe(nearness('hospital', 'doctor'));
});

test('a term is not near to itself, and what no vector is known of is near to nothing', () => {
  expect(nearTo('doctor', meaningsOf(['doctor']))).toStrictEqual([]);
  expect(meaningsOf(['xk-4431'])).toStrictEqual([]);
  expect(nearTo('xk-4431', meaningsOf(['doctor']))).toStrictEqual([]);
});
