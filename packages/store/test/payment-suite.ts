import { beforeEach, describe, expect, it } from 'vitest';
import type { PaymentRow, PaymentStore } from '../../payments/src/payment-store.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

function payment(id: string, change: Partial<PaymentRow> = {}): PaymentRow {
  return {
    id,
    identifier: null,
    scheme: 'exact',
    payer: '0xaa',
    amount: 2n ** 60n,
    charged: 0n,
    requestHash: 'a',
    detail: '{}',
    state: 'settling',
    tx: null,
    receiptId: null,
    leaseUntil: 100,
    createdAt: 50,
    ...change,
  };
}

/** The guarantees of {@link PaymentStore}, to be kept by every adapter. */
export function paymentSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps x402 payments`, () => {
    const { open } = useDatabase(createDatabase);
    let payments: PaymentStore;

    beforeEach(async () => {
      ({ payments } = await open());
    });

    it('each of which begins once, by id and by identifier, whoever asks', async () => {
      const row = payment('p1', { identifier: 'i1' });
      const other = (await open()).payments;
      const begun = await Promise.all(times(6, (i) => (i % 2 ? payments : other).begin(row)));
      expect(begun.filter((known) => known === null)).toHaveLength(1);
      expect(begun.filter((known) => known !== null)).toEqual(times(5, () => row));
      expect(await other.begin(payment('p2', { identifier: 'i1' }))).toEqual(row);
      expect(await other.begin(payment('p1', { identifier: 'i2' }))).toEqual(row);
      expect(await other.find('p1')).toEqual(row);
      expect(await other.find('p2')).toBeNull();
      expect(await other.findByIdentifier('i1')).toEqual(row);
      expect(await other.findByIdentifier('i2')).toBeNull();
    });

    it('whose steps go from what was seen, once', async () => {
      const row = payment('p1');
      await payments.begin(row);
      const other = (await open()).payments;
      const settled = { state: 'settled', tx: '0x01', charged: 7n } as const;
      const won = await Promise.all([payments.step(row, settled), other.step(row, { leaseUntil: 200 })]);
      expect(won.filter(Boolean)).toHaveLength(1);
      const now = await other.find('p1');
      expect(now).toEqual({ ...row, ...(won[0] ? settled : { leaseUntil: 200 }) });
      expect(await other.step(payment('p2'), settled)).toBe(false);
    });

    it('which are found by transaction, and by payer while they are open', async () => {
      await payments.begin(payment('p1', { state: 'settled', tx: '0x01' }));
      await payments.begin(payment('p2', { leaseUntil: 30 }));
      await payments.begin(payment('p3', { state: 'owed', leaseUntil: 20 }));
      await payments.begin(payment('p4', { state: 'serving', payer: '0xbb', leaseUntil: 40 }));
      await payments.begin(payment('p5', { state: 'failed', leaseUntil: 10 }));
      const ids = (rows: readonly PaymentRow[]) => rows.map(({ id }) => id);
      expect(ids(await payments.findByTx('0x01'))).toEqual(['p1']);
      expect(ids(await payments.openOf('0xaa'))).toEqual(['p2', 'p3', 'p5']);
      expect(ids(await payments.abandoned(30, 9))).toEqual(['p2']);
      expect(ids(await payments.abandoned(40, 9))).toEqual(['p2', 'p4']);
      expect(ids(await payments.abandoned(40, 1))).toEqual(['p2']);
    });

    it('until those that are over are purged, the oldest first', async () => {
      const states = ['settling', 'serving', 'settled', 'delivered', 'failed', 'owed'] as const;
      for (const state of states) {
        await payments.begin(payment(`old-${state}`, { state, createdAt: 99 }));
        await payments.begin(payment(`new-${state}`, { state, createdAt: 100 }));
      }
      await payments.begin(payment('oldest', { state: 'failed', createdAt: 1 }));
      expect(await payments.purge(100, 1)).toBe(1);
      expect(await payments.find('oldest')).toBeNull();
      expect(await payments.purge(100, 10)).toBe(3);
      expect(await payments.purge(100, 10)).toBe(0);
      for (const state of states) {
        const isOver = ['settled', 'delivered', 'failed'].includes(state);
        expect((await payments.find(`old-${state}`)) === null, state).toBe(isOver);
        expect(await payments.find(`new-${state}`), state).not.toBeNull();
      }
    });

    it('and channels, each version once', async () => {
      const row = { id: 'c1', version: 1, claimable: 2n ** 62n, document: '{"a":1}' };
      const other = (await open()).payments;
      const inserted = await Promise.all([payments.putChannel(row), other.putChannel(row)]);
      expect(inserted.filter(Boolean)).toHaveLength(1);
      expect(await other.channel('c1')).toEqual(row);
      const next = { ...row, version: 2, claimable: 0n };
      const replaced = await Promise.all([payments.putChannel(next), other.putChannel(next)]);
      expect(replaced.filter(Boolean)).toHaveLength(1);
      await payments.putChannel({ ...row, id: 'c2' });
      await payments.putChannel({ ...row, id: 'c3' });
      expect((await other.claimable('', 9)).map(({ id }) => id)).toEqual(['c2', 'c3']);
      expect((await other.claimable('c2', 9)).map(({ id }) => id)).toEqual(['c3']);
      expect(await payments.deleteChannel('c1', 1)).toBe(false);
      expect(await payments.deleteChannel('c1', 2)).toBe(true);
      expect(await other.channel('c1')).toBeNull();
    });
  });
}
