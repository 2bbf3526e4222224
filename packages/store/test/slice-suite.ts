import { beforeEach, describe, expect, it } from 'vitest';
import type { LedgerStore } from '../../ledger/src/ledger-store.ts';
import type { SpenderLimits } from '../../ledger/src/spending.ts';
import type { Store } from '../src/store.ts';
import { ACCOUNT, credit, NOW, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const KEY = 'key_a';
const DAY: SpenderLimits = {
  spender: KEY,
  day: 100n,
  month: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
};

/** What processes hold in advance of accounts, to be kept by every adapter. */
export function sliceSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} lends slices of accounts to processes`, () => {
    const { open, close } = useDatabase(createDatabase);
    let store: Store;
    let other: Store;
    let ledger: LedgerStore;

    beforeEach(async () => {
      store = await open();
      other = await open();
      ({ ledger } = store);
      await store.claims.renewLease('p', 600);
      await other.claims.renewLease('q', 600);
      await credit(ledger, ACCOUNT, 16_000n);
    });

    const reserve = (
      id: string,
      amount: bigint,
      { by = ledger, process = 'p', limits = [] as SpenderLimits[] } = {},
    ) =>
      by.reserve({
        id,
        account: ACCOUNT,
        amount,
        expiresAt: NOW + 600,
        process,
        spending: { at: NOW, spenders: [KEY], tokens: 0, limits },
      });
    const call = async (id: string, amount: bigint, charge: bigint, dust = 0n) => {
      await reserve(id, amount);
      return ledger.settle(settlement(id, charge, { dust, spenders: [KEY] }));
    };
    /** Two calls, one after the other, after which the process has a slice. */
    const begin = async (ids = ['first', 'second']): Promise<void> => {
      for (const id of ids) await call(id, 10n, 10n);
    };
    const has = async (by = ledger): Promise<[balance: bigint, reserved: bigint]> => {
      const { balance, reserved } = await by.balance(ACCOUNT);
      return [balance, reserved];
    };
    const faults = async (): Promise<readonly string[]> => (await ledger.checkBalanced()).faults;

    it('once they are in use: a sixteenth of what is there, which only others see as reserved', async () => {
      await call('first', 10n, 10n);
      expect(await has(other.ledger)).toEqual([15_990n, 0n]);
      await call('second', 10n, 10n);
      expect(await has(other.ledger)).toEqual([15_980n, 999n]);
      expect(await has()).toEqual([15_980n, 0n]);
      expect(await reserve('third', 900n)).toEqual({
        kind: 'reserved',
        dust: 0n,
        available: 15_080n,
        windows: [],
      });
      expect(await has()).toEqual([15_980n, 900n]);
      expect(await has(other.ledger)).toEqual([15_980n, 999n]);
      expect(await ledger.reserved()).toBe(900n);
      expect(await faults()).toEqual([]);
    });

    it('to whom calls that fit are reserved, once each, and released, without a transaction', async () => {
      await begin();
      const lines = (await other.ledger.balance(ACCOUNT)).reserved;
      const outcomes = await Promise.all(times(10, (i) => reserve(`r${i}`, 99n)));
      expect(outcomes.every(({ kind }) => kind === 'reserved')).toBe(true);
      expect(await reserve('r0', 99n)).toMatchObject({ kind: 'reserved', available: null });
      expect((await other.ledger.balance(ACCOUNT)).reserved).toBe(lines);
      // It does not fit any more, and is a reservation of its own.
      expect(await reserve('more', 99n)).toMatchObject({ kind: 'reserved', available: 15_980n - 1_089n });
      expect(await has()).toEqual([15_980n, 1_089n]);
      await Promise.all([...times(10, (i) => ledger.release(`r${i}`)), ledger.release('more')]);
      expect(await has()).toEqual([15_980n, 0n]);
      expect(await faults()).toEqual([]);
    });

    it('whose settlements are charged once, and no more than was held', async () => {
      await begin();
      await reserve('a', 100n);
      expect(await ledger.settle(settlement('a', 101n))).toBe('unreserved');
      await begin(['third', 'fourth']);
      await reserve('b', 100n);
      const outcomes = await Promise.all(times(3, () => ledger.settle(settlement('b', 70n))));
      expect(outcomes).toEqual(['settled', 'settled_before', 'settled_before']);
      expect(await has()).toEqual([15_890n, 0n]);
      expect(await faults()).toEqual([]);
    });
    it('with the dust of one call for the next', async () => {
      await call('first', 10n, 10n, 300_000n);
      expect(await reserve('second', 10n)).toMatchObject({ dust: 300_000n });
      expect(await reserve('beside', 10n)).toMatchObject({ dust: 0n });
      await ledger.settle(settlement('second', 10n, { dust: 700_000n }));
      expect(await reserve('third', 10n)).toMatchObject({ dust: 700_000n });
      await ledger.release('third');
      await ledger.release('beside');
      expect(await ledger.balance(ACCOUNT)).toMatchObject({ dust: 700_000n, reserved: 0n });
      // Too large for the slice, which nothing else holds.
      expect(await reserve('large', 5_000n)).toMatchObject({ dust: 700_000n, available: 10_980n });
      await ledger.release('large');
      await close(store);
      expect(await other.ledger.balance(ACCOUNT)).toMatchObject({ dust: 700_000n, reserved: 0n });
    });

    it('and nobody who has the money is refused: the process gives back what it does not need', async () => {
      await begin();
      expect(await reserve('held', 100n)).toMatchObject({ kind: 'reserved' });
      expect(await reserve('all', 15_881n)).toEqual({ kind: 'insufficient', available: 15_880n });
      expect(await reserve('all', 15_880n)).toMatchObject({ kind: 'reserved', available: 0n });
      expect(await ledger.settle(settlement('held', 100n))).toBe('settled');
      await ledger.release('all');
      expect(await has()).toEqual([15_880n, 0n]);
      expect(await faults()).toEqual([]);
    });

    it('nor by another process, which asks for it, nor is a posting', async () => {
      await begin();
      await reserve('held', 100n);
      expect(await reserve('all', 15_880n, { by: other.ledger, process: 'q' })).toMatchObject({
        kind: 'reserved',
        available: 0n,
      });
      await other.ledger.release('all');
      await ledger.settle(settlement('held', 100n));
      await begin(['third', 'fourth']);
      expect(await credit(other.ledger, ACCOUNT, -15_860n)).toBe('posted');
      expect(await has()).toEqual([0n, 0n]);
      expect(await faults()).toEqual([]);
    });

    it('which shrink with what is left', async () => {
      await begin();
      // Another process spends what is beside the slice.
      expect(await credit(other.ledger, ACCOUNT, -14_981n)).toBe('posted');
      expect(await has(other.ledger)).toEqual([999n, 999n]);
      expect(await call('a', 500n, 400n)).toBe('settled');
      expect(await has()).toEqual([599n, 0n]);
      expect(await reserve('b', 599n)).toMatchObject({ kind: 'reserved', available: 0n });
      expect(await reserve('c', 1n)).toEqual({ kind: 'insufficient', available: 0n });
      expect(await faults()).toEqual([]);
    });

    it('until they die: then the money comes back, and their calls are not charged', async () => {
      await begin();
      await reserve('a', 100n);
      await other.claims.endLease('p');
      while ((await other.ledger.expireReservations(NOW)) > 0);
      expect(await has(other.ledger)).toEqual([15_980n, 0n]);
      expect(await ledger.settle(settlement('a', 100n))).toBe('unreserved');
      expect(await has(other.ledger)).toEqual([15_980n, 0n]);
      expect(await faults()).toEqual([]);
    });

    it('while their lease surely runs, and not again the same after a lapse', async () => {
      await begin();
      await store.claims.renewLease('p', 0);
      await other.ledger.expireReservations(NOW);
      expect(await has(other.ledger)).toEqual([15_980n, 0n]);
      await store.claims.renewLease('p', 600);
      await reserve('a', 100n);
      // A new slice, as the database has the money of the earlier one back.
      expect(await has(other.ledger)).toEqual([15_980n, 998n]);
    });

    it('and not to processes without a lease', async () => {
      await reserve('a', 10n, { process: 'nobody' });
      await reserve('b', 10n, { process: 'nobody' });
      expect(await has(other.ledger)).toEqual([16_000n, 20n]);
    });

    it('but not for spenders with limits, whose earlier calls count in a limit that is set meanwhile', async () => {
      await begin();
      await reserve('a', 50n);
      expect(await reserve('b', 31n, { limits: [DAY] })).toMatchObject({
        kind: 'limited',
        by: { used: 70n, reserved: 50n },
      });
      expect(await reserve('b', 30n, { limits: [DAY] })).toMatchObject({ kind: 'reserved' });
      expect(await has(other.ledger)).toEqual([15_980n, 999n + 30n]);
    });

    it('which they give back when they are closed', async () => {
      await begin();
      await close(store);
      expect(await has(other.ledger)).toEqual([15_980n, 0n]);
    });
  });
}
