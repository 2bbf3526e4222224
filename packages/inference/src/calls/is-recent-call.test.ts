import { expect, test } from 'vitest';
import { isRecentCall } from './is-recent-call.ts';

const NOW = 1_800_000_000_000;
const MAX_CALL_MS = 600_000;

test.each([
  ['r_env_1800000000_0123456789ab', true],
  ['r_env_1799999371_0123456789ab', true],
  ['r_env_1799999370_0123456789ab', false],
  ['r_env_0000000000_0123456789ab', false],
  ['', false],
  ['z', false],
  ['r_env_', false],
  ['r_env_1800000000_', false],
  ['r_env_1800000000_0123456789a', false],
  ['r_env_1800000000_0123456789abc', false],
  ['r_env_1800000000_0123456789AB', false],
  ['call_1800000000_0123456789ab', false],
])('%s may be a call that has just ended: %s', (id, expected) => {
  expect(isRecentCall(id, NOW, MAX_CALL_MS)).toBe(expected);
});
