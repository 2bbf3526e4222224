import type { LedgerStore, StatementLine } from '@tallystick/ledger';
import { expect, test } from 'vitest';
import { bookedTo } from './booked.ts';

const DAY = 86_400;
const START = Date.parse('2026-01-01') / 1000;
const LINES_A_DAY = 1_000;

/** An account with so many days of lines, every tenth of which is an hour older than those around it. */
function books(days: number) {
  const all = Array.from({ length: days * LINES_A_DAY }, (_, i): StatementLine => {
    const late = i % 10 === 0 ? 3_600 : 0;
    const at = START + Math.floor((i * DAY) / LINES_A_DAY) - late;
    const memo = i % 2 === 0 ? 'openai/a' : 'openai/b';
    return { line: i + 1, posting: `p${i}`, memo, at, amount: 3n, balance: 0n };
  });
  let read = 0;
  const ledger: Pick<LedgerStore, 'balance' | 'statement'> = {
    balance: async () => ({ balance: 0n, reserved: 0n, dust: 0n, lines: all.length }),
    statement: async (account, { after = 0, limit }) => {
      expect(account).toBe('provider:openai');
      const lines = all.slice(after, after + limit);
      read += lines.length;
      return lines;
    },
  };
  return { all, ledger, read: () => read };
}

/** The sums as they come of reading every line. */
function sumsOf(all: readonly StatementLine[], first: string, last: string): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const { at, memo, amount } of all) {
    const day = new Date(at * 1000).toISOString().slice(0, 10);
    const key = `${day} ${memo.replace('openai/', '')}`;
    if (day >= first && day <= last) sums[key] = (sums[key] ?? 0n) + amount;
  }
  return sums;
}

test.each([
  ['2026-02-10', '2026-02-11'],
  ['2025-12-01', '2026-01-01'],
  ['2026-04-09', '2027-01-01'],
  ['2024-01-01', '2024-02-01'],
  ['2027-01-01', '2027-02-01'],
])('the lines of %s to %s are added up, and those of other days are not read', async (first, last) => {
  const { all, ledger, read } = books(100);
  const booked = await bookedTo(ledger, 'openai', { first, last });
  const found = Object.fromEntries(booked.map(({ day, model, amount }) => [`${day} ${model}`, amount]));
  expect(found).toEqual(sumsOf(all, first, last));
  const days = Object.keys(found).length / 2;
  expect(read()).toBeLessThanOrEqual((days + 4) * LINES_A_DAY);
});

test('nothing is booked to a provider without lines', async () => {
  expect(await bookedTo(books(0).ledger, 'openai', { first: '2026-01-01', last: '2026-01-02' })).toEqual([]);
});
