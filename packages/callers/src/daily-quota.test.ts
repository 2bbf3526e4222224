import { describe, expect, it } from 'vitest';
import { received } from '../../kit/test/received.ts';
import { consumeDaily } from './daily-quota.ts';

/** A store that counts in memory, as the interface says. */
function counting() {
  const used = new Map<string, number>();
  const expiries: number[] = [];
  return {
    expiries,
    async consume(counter: string, limit: number, expiresAt: number) {
      expiries.push(expiresAt);
      const now = used.get(counter) ?? 0;
      if (now >= limit) return { allowed: false, used: now };
      used.set(counter, now + 1);
      return { allowed: true, used: now + 1 };
    },
  };
}

const NOON = Date.UTC(2026, 0, 2, 12);
const MIDNIGHT = Date.UTC(2026, 0, 3);

describe('consumeDaily', () => {
  it('counts down, then refuses until the UTC midnight', async () => {
    const store = counting();
    const quota = { name: 'free-mint', limit: 2, store };
    const first = received();
    await consumeDaily(quota, 'a', first, NOON);
    const window = { name: 'free-mint', limit: 2, seconds: 86_400, resetAt: MIDNIGHT / 1_000 };
    expect(first.facts).toEqual([{ kind: 'rate_limit', window, used: 1, left: 43_200 }]);
    await consumeDaily(quota, 'a', received(), NOON);
    const third = received();
    await expect(consumeDaily(quota, 'a', third, NOON + 1)).rejects.toMatchObject({
      code: 'rate_limited',
      facts: { retryAfter: 43_200 },
    });
    expect(third.facts).toEqual([{ kind: 'rate_limit', window, used: 2, left: 43_200 }]);
    expect(store.expiries).toEqual(Array(3).fill(MIDNIGHT / 1_000));
    await consumeDaily(quota, 'a', received(), MIDNIGHT);
    await consumeDaily(quota, 'b', received(), NOON);
  });

  it('is off at 0', async () => {
    const call = received();
    await consumeDaily({ name: 'free-mint', limit: 0, store: counting() }, 'a', call, NOON);
    expect(call.facts).toEqual([]);
  });
});
