import { expect, test } from 'vitest';
import { longDuration } from './clock.ts';

test.each([
  [0, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [725, '12 min 5 s'],
  [3_600, '1 h'],
  [10_920, '3 h 2 min'],
  [86_400, '1 d'],
  [187_200, '2 d 4 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(longDuration(seconds)).toBe(text);
});
