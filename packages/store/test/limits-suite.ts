import { beforeEach, describe, expect, it } from 'vitest';
import type { LedgerStore } from '../../ledger/src/ledger-store.ts';
import type { SpenderLimits } from '../../ledger/src/spending.ts';
import type { Store } from '../src/store.ts';
import { ACCOUNT, credit, NOW, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const KEY = 'key_a';
const NONE = { day: null, month: null, requestsPerMinute: null, tokensPerMinute: null };

/** The limits of {@link LedgerStore}, to be kept by every adapter. */
export function limitsSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps limits`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    let ledger: LedgerStore;

    beforeEach(async () => {
      store = await open();
      ({ ledger } = store);
      await credit(ledger, ACCOUNT, 1_000n);
    });

    const reserve = (
      id: string,
      amount: bigint,
      limits: Partial<SpenderLimits>,
      { by = ledger, at = NOW, tokens = 0, spenders = [KEY] } = {},
    ) =>
      by.reserve({
        id,
        account: ACCOUNT,
        amount,
        expiresAt: NOW + 600,
        spending: { at, spenders, tokens, limits: [{ spender: KEY, ...NONE, ...limits }] },
      });
    const settle = (id: string, charge: bigint, at = NOW) =>
      ledger.settle(settlement(id, charge, { at, spenders: [KEY] }));

    it('of money: what is charged and what is reserved never pass them together', async () => {
      const day = { day: 100n };
      expect(await reserve('a', 60n, day)).toMatchObject({
        kind: 'reserved',
        windows: [{ kind: 'day', limit: 100n, used: 60n, reserved: 60n }],
      });
      expect(await reserve('b', 41n, day)).toMatchObject({
        kind: 'limited',
        by: { spender: KEY, kind: 'day', used: 60n, reserved: 60n },
      });
      expect(await settle('a', 10n)).toBe('settled');
      expect(await reserve('b', 90n, day)).toMatchObject({ kind: 'reserved' });
      expect(await reserve('c', 1n, day)).toMatchObject({ kind: 'limited' });
      await ledger.release('b');
      expect(await reserve('c', 91n, day)).toMatchObject({ kind: 'limited' });
      expect(await reserve('c', 90n, day)).toMatchObject({ kind: 'reserved' });
    });

    it('of money by UTC day and month, in all that was charged before they were set', async () => {
      const tomorrow = NOW + 86_400;
      await reserve('a', 70n, {});
      await settle('a', 70n);
      expect(await ledger.spent([KEY, 'key_b'], NOW)).toEqual(
        new Map([
          [KEY, { day: 70n, month: 70n }],
          ['key_b', { day: 0n, month: 0n }],
        ]),
      );
      expect(await ledger.spent([KEY], tomorrow)).toEqual(new Map([[KEY, { day: 0n, month: 70n }]]));
      expect(await reserve('b', 31n, { day: 100n })).toMatchObject({ kind: 'limited' });
      expect(await reserve('b', 31n, { day: 100n }, { at: tomorrow })).toMatchObject({ kind: 'reserved' });
      expect(await reserve('c', 1n, { month: 100n }, { at: tomorrow })).toMatchObject({
        kind: 'limited',
        by: { kind: 'month', used: 101n, reserved: 31n },
      });
    });

    it('of an owner, over all of its keys', async () => {
      const limits = { day: 100n };
      await reserve('a', 60n, limits, { spenders: ['key_b', KEY] });
      expect(await reserve('b', 60n, limits, { spenders: ['key_c', KEY] })).toMatchObject({
        kind: 'limited',
      });
      expect(await reserve('b', 40n, limits, { spenders: ['key_c', KEY] })).toMatchObject({
        kind: 'reserved',
      });
    });

    it('of requests and tokens by the minute; tokens that a call did not use are given back', async () => {
      const rates = { requestsPerMinute: 3, tokensPerMinute: 100 };
      const first = await reserve('a', 1n, rates, { tokens: 80 });
      expect(first).toMatchObject({
        windows: [
          { kind: 'requests', used: 1n },
          { kind: 'tokens', used: 80n, resetAt: NOW + 60 - (NOW % 60) },
        ],
      });
      expect(await reserve('b', 1n, rates, { tokens: 21 })).toMatchObject({ by: { kind: 'tokens' } });
      // It used 15.
      await settle('a', 1n);
      expect(await reserve('b', 1n, rates, { tokens: 85 })).toMatchObject({ kind: 'reserved' });
      await ledger.release('b');
      expect(await reserve('c', 1n, rates, { tokens: 85 })).toMatchObject({ kind: 'reserved' });
      expect(await reserve('d', 1n, rates)).toMatchObject({ kind: 'limited', by: { kind: 'requests' } });
      expect(await reserve('d', 1n, rates, { at: NOW + 60, tokens: 100 })).toMatchObject({
        kind: 'reserved',
      });
    });

    it('and counts nothing of a call that it refuses', async () => {
      const limits = { day: 5n, requestsPerMinute: 2 };
      for (const id of ['a', 'b', 'c'])
        expect(await reserve(id, 6n, limits)).toMatchObject({ by: { kind: 'day' } });
      expect(await reserve('d', 2_000n, { requestsPerMinute: 1 })).toMatchObject({ kind: 'insufficient' });
      expect(await reserve('e', 1n, { requestsPerMinute: 1 })).toMatchObject({ kind: 'reserved' });
      expect(await ledger.balance(ACCOUNT)).toMatchObject({ reserved: 1n });
    });

    it('of free calls of an account that does not exist', async () => {
      const free = { id: 'a', account: 'caller:key_b', amount: 0n, expiresAt: NOW };
      const spending = {
        at: NOW,
        spenders: ['key_b'],
        tokens: 9,
        limits: [{ ...NONE, spender: 'key_b', tokensPerMinute: 10 }],
      };
      expect(await ledger.reserve({ ...free, spending })).toMatchObject({ kind: 'reserved' });
      expect(await ledger.reserve({ ...free, id: 'b', spending })).toMatchObject({ kind: 'limited' });
      await ledger.release('a');
      expect(await ledger.reserve({ ...free, id: 'b', spending })).toMatchObject({ kind: 'reserved' });
      expect(await ledger.expireReservations(NOW)).toBe(1);
    });

    it('whichever of two processes reserves and settles at once', async () => {
      const ledgers = [ledger, (await open()).ledger];
      const limits = { day: 100n, requestsPerMinute: 30 };
      const outcomes = await Promise.all(
        times(50, async (i) => {
          const by = ledgers[i % 2] ?? ledger;
          const outcome = await reserve(`r${i}`, 10n, limits, { by });
          if (outcome.kind === 'reserved' && i % 3 === 0)
            await by.settle(settlement(`r${i}`, 7n, { spenders: [KEY] }));
          return outcome.kind;
        }),
      );
      const { day } = (await ledger.spent([KEY], NOW)).get(KEY) ?? { day: -1n };
      const { reserved } = await ledger.balance(ACCOUNT);
      expect(day + reserved).toBeLessThanOrEqual(100n);
      expect(outcomes.filter((kind) => kind === 'reserved').length).toBeGreaterThanOrEqual(10);
      expect(await reserve('rest', 100n - day - reserved, limits)).toMatchObject({ kind: 'reserved' });
      expect(await reserve('more', 1n, limits)).toMatchObject({ kind: 'limited' });
    });
  });
}
