import type { ListedReceipt, ReceiptCounting, ReceiptFilters } from '@tallystick/receipts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { newCall } from './call-fixtures.ts';
import { NO_FILTER, NOW, OTHER, OWNER, row } from './list-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

/** What `ReceiptListStore` says of counts and of tags, to be kept by every adapter. */
export function receiptCountSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} counts receipts`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const counts = async (
      filters: Partial<ReceiptFilters> = {},
      change: Partial<ReceiptCounting> = {},
    ): Promise<[number, number][]> => {
      const range = { owner: OWNER, span: 60, from: 60, to: 300, now: NOW };
      const found = await store.receiptList.counts({ ...NO_FILTER, ...filters, ...range, ...change });
      return found.map(({ at, receipts }) => [at, receipts]);
    };

    it('by bucket, its owner’s and no others, by each filter', async () => {
      const long = (end: string): string => `did:web:${'x'.repeat(2_000)}${end}`;
      await store.receiptList.put([
        row('a', { at: 60_000 }),
        row('b', { at: 119_999, profile: 'nano' }),
        row('c', { at: 120_000, did: long('a') }),
        row('d', { at: 300_000, purpose: `${'p'.repeat(2_500)}1`, cost: 4n }),
        row('e', { at: 60_000, owner: OTHER }),
        row('f', { at: 60_000, expiresAt: NOW }),
      ]);
      expect(await counts()).toEqual([
        [120, 1],
        [60, 2],
      ]);
      expect(await counts({}, { from: 0, to: 3_600, span: 3_600 })).toEqual([[0, 4]]);
      expect(await counts({ profile: 'nano' })).toEqual([[60, 1]]);
      expect(await counts({ did: long('a') })).toEqual([[120, 1]]);
      expect(await counts({ maxCost: 4n }, { to: 960 })).toEqual([[300, 1]]);
      expect(await counts({ minCost: 5n }, { to: 960 })).toEqual([
        [120, 1],
        [60, 2],
      ]);
      expect(await counts({ purpose: `${'p'.repeat(2_500)}2` }, { to: 960 })).toEqual([]);
      expect(await counts({}, { owner: OTHER })).toEqual([[60, 1]]);
    });

    /** Receipts with every mix of members, some of which have expired. */
    const mixed = (): ListedReceipt[] =>
      times(160, (n) =>
        row(`r${n}`, {
          at: n * 1_700_000 + n,
          profile: n % 2 ? 'standard' : 'nano',
          purpose: n % 3 ? 'inference' : `order ${n}`,
          provider: n % 5 ? 'openai' : null,
          status: n % 5 ? (n % 7 ? 'ok' : 'error') : null,
          model: n % 11 ? `openai/${n % 2}` : `${'🙂'.repeat(70)}${n % 2}`,
          key: n % 4 ? 'key_a' : null,
          owner: n % 10 ? OWNER : OTHER,
          expiresAt: n % 9 ? NOW + n : NOW - n,
          cost: BigInt(n),
        }),
      );
    const FILTERS: Partial<ReceiptFilters>[] = [
      {},
      { profile: 'nano' },
      { purpose: 'inference' },
      { provider: 'openai' },
      { status: 'ok' },
      { status: 'error', model: 'openai/1' },
      { model: 'openai/0', key: 'key_a' },
      { model: `${'🙂'.repeat(70)}1` },
      { model: '🙂'.repeat(50) },
      { provider: '' },
      { model: '' },
      { profile: 'standard', purpose: 'inference', provider: 'openai', status: 'ok', key: 'key_a' },
      { key: 'key_b' },
    ];

    it('with the same numbers from the counts that are kept as from the rows', async () => {
      const rows = mixed();
      // In parts, one of them twice.
      for (const from of [0, 60, 60, 120]) await store.receiptList.put(rows.slice(from, from + 60));
      for (const purges of [0, 1, 9]) {
        for (let n = 0; n < purges; n += 1) await store.receiptList.purge(NOW, 3);
        for (const filters of FILTERS) {
          for (const span of [60, 3_600, 86_400]) {
            const change = { span, from: 0, to: 86_400 * 4, now: NOW };
            // Every row has a cost, and no count by cost is kept.
            const ofRows = await counts({ ...filters, minCost: 0n }, change);
            expect(await counts(filters, change), JSON.stringify([filters, span, purges])).toEqual(ofRows);
          }
        }
      }
      expect(await counts({}, { span: 86_400, from: 0, to: 86_400 * 4 })).not.toEqual([]);
    });

    it('without those that have expired, which leave nothing behind', async () => {
      await store.receiptList.put([row('a', { at: 60_000 }), row('b', { at: 60_000, expiresAt: NOW + 5 })]);
      expect(await counts({}, { now: NOW })).toEqual([[60, 1 + 1]]);
      expect(await counts({}, { now: NOW + 1 })).toEqual([[60, 1]]);
      expect(await counts({}, { now: NOW + 5 })).toEqual([]);
      expect(await store.receiptList.purge(NOW + 1, 9)).toBe(1);
      expect(await counts({}, { now: NOW })).toEqual([[60, 1]]);
      expect(await store.receiptList.purge(NOW + 5, 9)).toBe(1);
      expect(await counts({}, { now: 0 })).toEqual([]);
      await store.receiptList.put([row('c', { at: 60_000 })]);
      expect(await counts()).toEqual([[60, 1]]);
    });

    it('and lists them by the tags of their calls', async () => {
      const tags = '{"team":"a","run":"1"}';
      const [one, two] = [
        newCall(70_000, { id: 'a', owner: OWNER, tags }),
        newCall(80_000, { id: 'b', owner: OWNER }),
      ];
      await store.calls.put([one, two, newCall(90_000, { id: 'c', owner: OTHER, tags })]);
      await store.receiptList.put([
        row('a', { at: 70_000 }),
        row('b', { at: 80_000 }),
        row('c', { at: 90_000, owner: OTHER }),
      ]);
      const page = async (filters: Partial<ReceiptFilters>, owner = OWNER): Promise<string[]> => {
        const before = { at: 1e15, id: '' };
        const asked = { ...NO_FILTER, ...filters, owner, from: 0, before, now: NOW, limit: 9 };
        return (await store.receiptList.page(asked)).map(({ id }) => id);
      };
      expect(await page({ tag: 'team:a' })).toEqual(['a']);
      expect(await page({ tag: 'team:a', status: 'ok', profile: 'standard' })).toEqual(['a']);
      expect(await page({ tag: 'team:a', id: 'a' })).toEqual(['a']);
      expect(await page({ tag: 'team:a', id: 'b' })).toEqual([]);
      expect(await page({ tag: 'team:a', key: 'key_b' })).toEqual([]);
      expect(await page({ tag: 'team:b' })).toEqual([]);
      expect(await page({ tag: 'team:a' }, OTHER)).toEqual(['c']);
      expect(await counts({ tag: 'run:1' })).toEqual([[60, 1]]);
      expect(await counts({ tag: 'run:1' }, { owner: OTHER })).toEqual([[60, 1]]);
    });
  });
}
