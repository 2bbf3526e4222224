import { expect, test } from 'vitest';
import { brief, daysBetween, shortDay, usdc } from './numbers.ts';

test.each([
  ['0.000012300', '0.0000123'],
  ['0.000000000', '0'],
  ['100.000000000', '100'],
  ['10.500000000', '10.5'],
])('%s USDC is written %s', (text, expected) => {
  expect(usdc({ usdc: text, nano: '' })).toBe(expected);
});

test('days between two days include both, and the leap day', () => {
  expect(daysBetween('2028-02-28', '2028-03-01')).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
  expect(daysBetween('2026-11-21', '2026-11-21')).toEqual(['2026-11-21']);
});

test('beside an axis there is little room', () => {
  expect([brief(1_500_000), brief(12_000), brief(7)]).toEqual(['1.5M', '12K', '7']);
  expect(shortDay('2026-11-21')).toBe('Nov 21');
});
