import { X402 } from '@tallystick/ledger';
import { type ListedReceipt, type ReceiptFilters, ReceiptListing } from '@tallystick/receipts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../src/store.ts';
import { ACCOUNT, credit, reserve, settlement } from './ledger-fixtures.ts';
import { NO_FILTER, NOW, OTHER, OWNER, row } from './list-fixtures.ts';
import { attempt, HOUR, head, lead, place } from './log-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const TENANT = 'tenant:t_a';
const NEWEST = { at: 1e15, id: '' };

/** The guarantees of `ReceiptListStore` and of the lists of the log, to be kept by every adapter. */
export function listSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} lists receipts`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const page = async (filters: Partial<ReceiptFilters> = {}, change: object = {}): Promise<string[]> => {
      const rows = await store.receiptList.page({
        ...NO_FILTER,
        ...filters,
        owner: OWNER,
        from: 0,
        before: NEWEST,
        now: NOW,
        limit: 100,
        ...change,
      });
      return rows.map(({ id }) => id);
    };

    it('with everything that was written, once', async () => {
      const rows = [row('a'), row('b', { purpose: null, did: null, model: null, cost: null, leafIndex: 7 })];
      await store.receiptList.put(rows);
      await store.receiptList.put([row('a', { purpose: 'another' })]);
      const listed = { ...NO_FILTER, owner: OWNER, from: 0, before: NEWEST, now: NOW, limit: 9 };
      expect(await store.receiptList.page(listed)).toEqual(rows.toReversed());
    });

    it('newest first, in parts, none twice and none lost while others are written', async () => {
      const rows = times(40, (n) => row(`r${(n * 7) % 40}`, { at: 100 + Math.floor(n / 6) }));
      await store.receiptList.put(rows);
      const seen: ListedReceipt[] = [];
      let before: { at: number; id: string } = NEWEST;
      for (;;) {
        const part = { ...NO_FILTER, owner: OWNER, from: 101, before, now: NOW, limit: 5 };
        const read = await store.receiptList.page(part);
        seen.push(...read);
        before = read.at(-1) ?? before;
        if (read.length < 5) break;
        await store.receiptList.put([row(`new${seen.length}`, { at: 10_000 })]);
      }
      const expected = rows
        .filter(({ at }) => at >= 101)
        .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
      expect(seen).toEqual(expected);
    });

    const long = (end: string): string => `did:web:${'x'.repeat(2_000)}${end}`;
    const odd: Partial<ListedReceipt>[] = [
      { requestHash: 'ef' },
      { session: 'ef' },
      { did: long('a') },
      { did: long('b') },
      { model: 'x/1' },
      { purpose: `${'p'.repeat(2_500)}1` },
      { profile: 'nano' },
      { owner: OTHER },
      { owner: TENANT },
      { expiresAt: NOW },
      { at: 99, provider: 'p'.repeat(3_000) },
      { at: 99, status: 'error', model: 'x/1' },
      { at: 99, cost: 5n },
      { at: 99, cost: null, provider: null, status: null },
    ];
    /** Those of the owner from 100 on. */
    const MOST = ['0', '1', '2', '3', '4', '5', '6'];
    it.each<[Partial<ReceiptFilters>, object, string[]]>([
      [{}, { from: 100 }, MOST],
      [{ requestHash: 'ef' }, {}, ['0']],
      [{ session: 'ef' }, {}, ['1']],
      [{ did: long('b') }, {}, ['3']],
      [{ did: long('c') }, {}, []],
      [{ model: 'x/1' }, { from: 100 }, ['4']],
      [{ purpose: `${'p'.repeat(2_500)}1` }, {}, ['5']],
      [{ purpose: `${'p'.repeat(2_500)}2` }, {}, []],
      [{ profile: 'nano' }, {}, ['6']],
      [{ id: '4' }, {}, ['4']],
      [{ key: 'key_a' }, { from: 100 }, MOST],
      [{ provider: 'p'.repeat(3_000) }, {}, ['10']],
      [{ provider: 'openai' }, {}, ['11', '12', ...MOST]],
      [{ status: 'error' }, {}, ['11']],
      [{ status: 'error', model: 'x/1', provider: 'openai' }, {}, ['11']],
      [{ status: 'ok', model: 'x/1' }, {}, ['4']],
      [{ maxCost: 5n }, {}, ['12']],
      [{ maxCost: 4n }, {}, []],
      [{ minCost: 6n }, {}, ['10', '11', ...MOST]],
      [{ minCost: 5n, maxCost: 5n, key: 'key_a' }, {}, ['12']],
      [{ minCost: 5n, maxCost: 5n, key: 'key_b' }, {}, []],
      [{ minCost: 0n, profile: 'nano' }, {}, ['6']],
      [{ maxCost: 5n }, { owner: OTHER }, []],
      [{ minCost: 6n }, { owner: OTHER }, ['7']],
      [{ tag: 'team:a' }, {}, []],
      [{ key: 'key_b' }, {}, []],
      [{ id: '7' }, {}, []],
      [{ model: 'x/1', profile: 'nano' }, {}, []],
      [{ model: 'openai/small', requestHash: 'ef' }, {}, ['0']],
      [{}, { owner: OTHER }, ['7']],
      [{}, { owner: TENANT }, ['8']],
      [{ requestHash: 'ef' }, { owner: OTHER }, []],
      [{ id: '0' }, { owner: TENANT }, []],
    ])('by %o of %o', async (filters, change, expected) => {
      const rows = odd.map((one, at) => row(String(at), one));
      await store.receiptList.put(rows);
      const sorted = rows
        .filter(({ id }) => expected.includes(id))
        .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
      expect(await page(filters, change)).toEqual(sorted.map(({ id }) => id));
      expect(sorted).toHaveLength(expected.length);
    });

    it('and makes rows again that a process has lost, once', async () => {
      const id = `r_env_${NOW}_0123456789ab`;
      const body =
        '{"call":{"complete":false,"model":"openai/small","provider":"openai"},"request":{"purpose":"p\\u0000","hash":"sha256:ab"},"issued_at":"2027-01-15T08:00:00.250Z"}';
      const receipt = {
        id,
        profile: 'standard',
        tenant: null,
        body,
        issuedAt: NOW,
        expiresAt: NOW + 9,
      } as const;
      await store.putReceipt({ ...receipt, owner: OWNER, key: 'key_a' });
      for (const after of [0, 60, 120]) {
        const listing = new ReceiptListing({ clock: () => (NOW + after) * 1_000, dropped: () => undefined });
        listing.open(store);
        await listing.flush();
      }
      const listed = { ...NO_FILTER, owner: OWNER, from: 0, before: NEWEST, now: NOW, limit: 9 };
      expect(await store.receiptList.page(listed)).toEqual([
        row(id, {
          at: NOW * 1_000 + 250,
          purpose: 'p\ufffd',
          did: null,
          status: 'error',
          session: null,
          cost: null,
          expiresAt: NOW + 9,
        }),
      ]);
    });

    it('and deletes the rows of receipts that have expired', async () => {
      await store.receiptList.put([row('a', { expiresAt: NOW }), row('b'), row('c', { expiresAt: NOW - 1 })]);
      expect(await store.receiptList.purge(NOW, 1)).toBe(1);
      expect(await store.receiptList.purge(NOW, 9)).toBe(1);
      expect(await page({}, { now: 0 })).toEqual(['b']);
    });

    it('and names stored receipts that have none', async () => {
      const stored = (id: string, change = {}) =>
        store.putReceipt({
          id,
          profile: 'nano',
          tenant: null,
          body: `{"id":"${id}"}`,
          issuedAt: NOW,
          expiresAt: NOW + 9,
          ...change,
        });
      await stored('r_nano_1_a', { owner: OWNER, key: 'key_a' });
      await stored('r_nano_2_b', { owner: OWNER });
      await stored('r_nano_3_c', { tenant: 't_a' });
      await stored('r_nano_4_d');
      await store.receiptList.put([row('r_nano_2_b')]);
      const range = { after: 'r_nano_', before: 'r_nano_9', limit: 9 };
      const facts = { key: null, profile: 'nano', issuedAt: NOW, expiresAt: NOW + 9 };
      expect(await store.receiptList.scan(range)).toEqual([
        { ...facts, id: 'r_nano_1_a', owner: OWNER, key: 'key_a', body: '{"id":"r_nano_1_a"}' },
        { ...facts, id: 'r_nano_2_b', owner: null, body: null },
        { ...facts, id: 'r_nano_3_c', owner: TENANT, body: '{"id":"r_nano_3_c"}' },
        { ...facts, id: 'r_nano_4_d', owner: null, body: null },
      ]);
      const two = await store.receiptList.scan({ ...range, after: 'r_nano_1_a', limit: 2 });
      expect(two.map(({ id }) => id)).toEqual(['r_nano_2_b', 'r_nano_3_c']);
    });

    it('and knows by its posting whose the receipt of a call is that names no owner', async () => {
      await credit(store.ledger, ACCOUNT, 100n);
      for (const [id, owner] of [
        ['r_env_1_a', ACCOUNT],
        ['r_env_2_b', null],
        ['r_env_3_c', X402],
      ] as const) {
        await reserve(store.ledger, id, 10n);
        await store.ledger.settle({ ...settlement(id, 10n), owner });
      }
      const scanned = await store.receiptList.scan({ after: 'r_env_', before: 'r_env_9', limit: 9 });
      expect(scanned.map(({ id, owner }) => [id, owner])).toEqual([
        ['r_env_1_a', ACCOUNT],
        ['r_env_2_b', null],
        ['r_env_3_c', null],
      ]);
    });
  });

  describe(`${name} lists the log`, () => {
    const { open } = useDatabase(createDatabase);
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const leaves = async (change: object = {}): Promise<[number, number | null][]> => {
      const page = { owner: null, from: 0, before: 1_000, limit: 100, ...change };
      return (await store.log.listLeaves(page)).map(({ index, posting }) => [
        index,
        posting?.sequence ?? null,
      ]);
    };

    it('newest first, each leaf with the first posting that covers it', async () => {
      await place(store.log, times(25, String));
      const epoch = await lead(store.log);
      for (const sequence of [1, 2]) {
        const posting = { sequence, batchAt: HOUR + sequence, ...head(sequence * 10), nonce: sequence };
        await store.log.queuePosting(epoch, posting, attempt(sequence, sequence));
      }
      const all = await leaves();
      expect(all.map(([index]) => index)).toEqual(times(25, (n) => 24 - n));
      expect(all.map(([, sequence]) => sequence)).toEqual(times(25, (n) => (n < 5 ? null : n < 15 ? 2 : 1)));
      expect(await leaves({ from: 9, before: 11 })).toEqual([
        [10, 2],
        [9, 1],
      ]);
      const [newest] = await store.log.listLeaves({ owner: null, from: 0, before: 20, limit: 1 });
      expect(newest).toMatchObject({ index: 19, batchAt: HOUR, posting: { sequence: 2, batchAt: HOUR + 2 } });
    });

    it('and to whoever handed hashes in those alone, also of a hash that was there', async () => {
      await place(store.log, ['a', 'b'], { owner: OWNER });
      await place(store.log, ['b', 'c', 'c'], { owner: OTHER });
      await place(store.log, ['d']);
      await place(store.log, ['a'], { owner: OWNER });
      const indexes = async (owner: string) => (await leaves({ owner })).map(([index]) => index);
      expect(await indexes(OWNER)).toEqual([1, 0]);
      expect(await indexes(OTHER)).toEqual([2, 1]);
      expect(await indexes(TENANT)).toEqual([]);
      expect(await leaves({ owner: OTHER, before: 2 })).toEqual([[1, null]]);
    });

    it('and to a key of theirs what came with it, also what another key had handed in', async () => {
      await place(store.log, ['a', 'b'], { owner: OWNER, key: 'key_a' });
      await place(store.log, ['b', 'c'], { owner: OWNER, key: 'key_made' });
      await place(store.log, ['d'], { owner: OWNER });
      await place(store.log, ['e'], { owner: OTHER, key: 'key_b' });
      const indexes = async (owner: string, key: string | null) =>
        (await leaves({ owner, key })).map(([index]) => index);
      expect(await indexes(OWNER, null)).toEqual([3, 2, 1, 0]);
      expect(await indexes(OWNER, 'key_a')).toEqual([1, 0]);
      expect(await indexes(OWNER, 'key_made')).toEqual([2, 1]);
      expect(await indexes(OWNER, 'key_b')).toEqual([]);
      expect(await indexes(OTHER, 'key_made')).toEqual([]);
      const all = { from: 0, before: 9 };
      expect(await store.log.countAnchors({ owner: OWNER }, [all, { from: 1, before: 3 }])).toEqual([4, 2]);
      expect(
        await store.log.countAnchors({ owner: OWNER, key: 'key_made' }, [{ from: 2, before: 9 }]),
      ).toEqual([1]);
      expect(await store.log.countAnchors({ owner: OTHER, key: 'key_made' }, [all])).toEqual([0]);
    });

    it('and tells the first leaf of a time', async () => {
      for (const [n, batchAt] of [HOUR, HOUR, HOUR + 60, HOUR + 180].entries())
        await place(store.log, [n], { batchAt });
      const times = [0, HOUR, HOUR + 1, HOUR + 60, HOUR + 61, HOUR + 181];
      expect(await store.log.firstLeavesAt(times)).toEqual([0, 0, 2, 2, 3, 4]);
      expect(await store.log.firstLeavesAt([])).toEqual([]);
    });
  });
}
