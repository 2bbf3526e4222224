import { expect, it } from 'vitest';
import { exhaustedMs } from './rate-limits.ts';

const now = Date.UTC(2026, 0, 1);

it.each<[Record<string, string>, number]>([
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' }, 360_000],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7.66s' }, 7_660],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '120ms' }, 120],
  [{ 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '6m0s' }, 0],
  [
    {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '2s',
    },
    2_000,
  ],
  [
    {
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:30Z',
    },
    30_000,
  ],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '12' }, 12_000],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1_000 + 5) }, 5_000],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now + 5) }, 5],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now - 5) }, 0],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999h' }, 3_600_000],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'soon' }, 0],
  [{ 'x-ratelimit-remaining': '0' }, 0],
  [{}, 0],
])('headers %j say that nothing is left for %i ms', (headers, milliseconds) => {
  expect(exhaustedMs((name) => headers[name], now)).toBe(milliseconds);
});
