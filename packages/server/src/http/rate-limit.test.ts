import { describe, expect, it } from 'vitest';
import { consumeDaily } from './rate-limit.ts';

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
    const first = { headers: {} };
    await consumeDaily(quota, 'a', first, NOON);
    expect(first.headers).toEqual({
      'ratelimit-policy': '"free-mint";q=2;w=86400',
      ratelimit: '"free-mint";r=1;t=43200',
    });
    await consumeDaily(quota, 'a', { headers: {} }, NOON);
    const third = { headers: {} };
    await expect(consumeDaily(quota, 'a', third, NOON + 1)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(third.headers).toMatchObject({ ratelimit: '"free-mint";r=0;t=43200', 'retry-after': '43200' });
    expect(store.expiries).toEqual(Array(3).fill(MIDNIGHT / 1_000));
    await consumeDaily(quota, 'a', { headers: {} }, MIDNIGHT);
    await consumeDaily(quota, 'b', { headers: {} }, NOON);
  });

  it('is off at 0', async () => {
    const exchange = { headers: {} };
    await consumeDaily({ name: 'free-mint', limit: 0, store: counting() }, 'a', exchange, NOON);
    expect(exchange.headers).toEqual({});
  });
});
