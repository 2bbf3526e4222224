import { expect, test } from 'vitest';
import { counted, duration } from './number.ts';

test.each([
  [0, '0 calls'],
  [1, '1 call'],
  [12_345, '12,345 calls'],
])('%i of a thing is one or several', (value, expected) => {
  expect(counted(value, 'call')).toBe(expected);
});

test.each([
  [312.4, '312 ms'],
  [999.6, '1.00 s'],
  [1_240, '1.24 s'],
  [9_996, '10.0 s'],
  [59_960, '1 min 0 s'],
  [125_000, '2 min 5 s'],
])('%d ms are written as %s', (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected);
});
