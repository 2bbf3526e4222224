import { BudgetNews } from '@tallystick/callers';
import type { SpendingWindow } from '@tallystick/ledger';
import { expect, it } from 'vitest';
import { reserve } from './reserve.ts';

const window = (kind: SpendingWindow['kind'], change: Partial<SpendingWindow>): SpendingWindow => ({
  spender: 'key_a',
  kind,
  limit: 100n,
  used: 0n,
  reserved: 0n,
  resetAt: 1_800_000_000,
  ...change,
});

it('tells of the budgets that a call would pass, but not of those that only calls under way fill, nor of rates', async () => {
  const full = window('month', { used: 95n, reserved: 1n });
  const windows = [
    full,
    window('day', { used: 95n, reserved: 50n }),
    window('day', { spender: 'key_b', used: 10n }),
    window('requests', { limit: 1n, used: 1n }),
  ];
  const reached: SpendingWindow[] = [];
  const refused = reserve(
    { reserve: async () => ({ kind: 'limited', by: full, windows }) },
    {
      id: 'r',
      payer: 'caller:key_a',
      candidates: [{ model: {} as never, ceiling: 10n, tokens: 1 }],
      exactly: async () => [{ model: {} as never, ceiling: 10n, tokens: 1 }],
      spending: { at: 0, spenders: ['key_a'], limits: [{} as never] },
      tell: () => undefined,
      budgetReached: (budget) => reached.push(budget),
      development: false,
      expiresAt: 0,
      process: 'p',
      open: null,
    },
  );
  await expect(refused).rejects.toMatchObject({ code: 'budget_exceeded' });
  expect(reached).toEqual([full]);
});

it('tells of a budget again after a minute, for webhooks that were made meanwhile, under the same id', async () => {
  let now = 1_799_000_000_000;
  const told: [string, string | null][] = [];
  const news = new BudgetNews({
    webhooks: { emit: async ({ id }, owner) => void told.push([id, owner]) },
    clock: () => now,
    logger: { warn: () => undefined },
  });
  const tell = async (after: number, change: Partial<SpendingWindow> = {}): Promise<void> => {
    now += after;
    news.reached('caller:key_a', window('day', { used: 100n, ...change }));
    await news.close();
  };
  await tell(0);
  await tell(59_999);
  expect(told).toHaveLength(1);
  await tell(1);
  await tell(0, { resetAt: 1_800_086_400 });
  const [first, second, third] = told;
  expect(second).toEqual(first);
  expect(third?.[0]).not.toBe(first?.[0]);
  expect(told).toHaveLength(3);
});
