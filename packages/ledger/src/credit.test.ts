import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openSqliteStore } from '../../store/src/sqlite.ts';
import type { Store } from '../../store/src/store.ts';
import { creditCaller } from './credit.ts';

const DAYS = 12;
const A_DAY = 50;
const DAY_MS = 86_400_000;
const START = 1_800_000_000_000;

let folder: string;
let store: Store;
const credit = (reference: string, now: number, amount = 5n, caller = 'key_a') =>
  creditCaller(store, { caller, amount, reference, memo: 'paid in', now });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tally-credit-'));
  store = await openSqliteStore(join(folder, 'tally.db'));
  // Within a day the lines go back in time.
  for (let day = 0; day < DAYS; day += 1)
    for (let n = 0; n < A_DAY; n += 1) await credit(`${day} ${n}`, START + day * DAY_MS - n * 60_000);
}, 60_000);
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

it.each([0, 6, DAYS - 1])('a reference of day %i is known, without the whole statement', async (day) => {
  const statement = vi.spyOn(store.ledger, 'statement');
  const reference = `${day} ${A_DAY - 1}`;
  const later = START + DAYS * DAY_MS;
  await expect(credit(reference, later)).resolves.toBe('posted_before');
  await expect(credit(reference, later, 7n)).rejects.toMatchObject({
    code: 'invalid_field',
    message: expect.stringContaining('0.000000005 USDC to this account'),
  });
  await expect(credit(reference, later, 5n, 'key_b')).rejects.toThrow('another account');
  const read = statement.mock.settledResults.flatMap(({ type, value }) =>
    type === 'fulfilled' ? value : [],
  );
  statement.mockRestore();
  // Twice: what halving looks at, and the pages of two days.
  expect(read.length).toBeLessThan((DAYS * A_DAY * 3) / 4);
});
