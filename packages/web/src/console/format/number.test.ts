import { expect, test } from 'vitest';
import { counted } from './number.ts';

test.each([
  [0, '0 calls'],
  [1, '1 call'],
  [12_345, '12,345 calls'],
])('%i of a thing is one or several', (value, expected) => {
  expect(counted(value, 'call')).toBe(expected);
});
