import { expect, it } from 'vitest';
import { isWithin, wasInUse } from './authority.ts';

const log = { origin: 'o', key_id: 'k', public_key: 'p', publicKey: new Uint8Array() };
const account = { origin: 'o', network: 'n', chain_id: 1, address: 'a' };
const at = (time: string): number => Date.parse(time) / 1000;

it('bounds an earlier log by its last size, and an earlier account by its time', () => {
  expect(isWithin(log, 8)).toBe(true);
  expect([7, 8].map((size) => isWithin({ ...log, last_size: 7 }, size))).toEqual([true, false]);
  expect(isWithin({ ...log, last_size: null }, 1)).toBeNull();

  const earlier = { ...account, valid_from: '2026-01-01T00:00:00Z', valid_until: '2026-02-01T00:00:00Z' };
  const times = [
    '2025-12-31T23:59:59Z',
    '2026-01-01T00:00:00Z',
    '2026-01-31T23:59:59Z',
    '2026-02-01T00:00:00Z',
  ];
  expect(times.map((time) => wasInUse(earlier, at(time)))).toEqual([false, true, true, false]);
  expect(wasInUse({ ...earlier, valid_from: null }, 0)).toBe(true);
  expect(wasInUse(account, 0)).toBe(true);
});
