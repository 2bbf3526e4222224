import type { CallFilters, CallRow, NewCall } from '@tallystick/inference';
import { beforeEach, describe, expect, it } from 'vitest';
import { MissingCalls } from '../../inference/src/calls/missing-calls.ts';
import type { Store } from '../src/store.ts';
import { newCall } from './call-fixtures.ts';
import { ACCOUNT, credit, NOW, reserve, settlement } from './ledger-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

const OTHER = 'caller:did:key:other';

/** The guarantees of `CallStore`, to be kept by every adapter. */
export function callSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} lists calls`, () => {
    const { open, close } = useDatabase(createDatabase);
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const page = (
      filters: CallFilters & { owner?: string; from?: number; limit?: number } = {},
      before = { at: 1e13, id: '' },
    ): Promise<CallRow[]> => store.calls.page({ owner: ACCOUNT, from: 0, limit: 1_000, ...filters, before });
    const ids = (rows: readonly CallRow[]): string[] => rows.map(({ id }) => id);

    it('with everything that was written, once, also after a reopen', async () => {
      const { detail, ...row } = newCall(5, {
        tags: '{"team":"a"}',
        cost: 2n ** 62n,
        did: 'did:web:a',
        detail: '{"x":1}',
      });
      await store.calls.put([{ ...row, detail }]);
      await store.calls.put([{ ...row, detail, cost: 1n }]);
      await close(store);
      store = await open();
      expect(await page()).toEqual([{ ...row, contentKept: 0 }]);
      expect(await store.calls.find(ACCOUNT, row.id)).toEqual({
        row: { ...row, contentKept: 0 },
        detail,
      });
      expect(await store.calls.find(ACCOUNT, 'another')).toBeNull();
      expect(await store.calls.find(OTHER, row.id)).toBeNull();
    });

    it('until they are purged by the day, with tags, details and minutes, while hours and days stay counted', async () => {
      const day = 20_000 * 86_400;
      const made = (second: number, change: Partial<NewCall> = {}): NewCall =>
        newCall(second * 1_000, {
          id: `r_env_${second}_${change.owner === OTHER ? 'b' : 'a'}`,
          tags: '{"team":"a"}',
          detail: '{"x":1}',
          ...change,
        });
      const old = [
        made(day - 90),
        made(day - 1, { owner: OTHER }),
        made(day - 2, { id: `call_${day - 2}_a`, receiptId: null }),
      ];
      const kept = [made(day), made(day + 1, { id: `call_${day + 1}_a`, receiptId: null })];
      await store.calls.put([...old, ...kept]);
      expect(await store.calls.purge(day, 2)).toBe(2);
      expect(await store.calls.purge(day, 2)).toBe(1);
      expect(await store.calls.purge(day, 2)).toBe(0);
      expect(ids(await page())).toEqual(ids(kept.toReversed()));
      expect(ids(await page({ tag: 'team:a' }))).toEqual(ids(kept.toReversed()));
      expect(await page({ owner: OTHER, tag: 'team:a' })).toEqual([]);
      for (const { id, owner } of old) expect(await store.calls.find(owner, id)).toBeNull();
      expect(await store.calls.find(ACCOUNT, kept[0]!.id)).toMatchObject({ detail: '{"x":1}' });
      // Who was purged can be listed anew: nothing of it is left in the way.
      await store.calls.put(old.slice(0, 1));
      expect(await store.calls.find(ACCOUNT, old[0]!.id)).toMatchObject({ detail: '{"x":1}' });
      const counted = async (span: number, owner = ACCOUNT): Promise<number[]> => {
        const counting = { owner, span, from: day - 86_400, to: day + 86_400, by: 'none' } as const;
        return (await store.calls.counts(counting)).sums.map(({ calls }) => calls);
      };
      expect(await counted(60)).toEqual([2, 1]);
      expect(await counted(60, OTHER)).toEqual([]);
      expect(await counted(3_600, OTHER)).toEqual([1]);
      expect(await counted(86_400)).toEqual([2, 3]);
    });

    it('newest first, page by page, none twice and none lost while others are written', async () => {
      const calls = times(50, (at) => newCall(100 + Math.floor(at / 7), { id: `c${at * 7919}` }));
      await store.calls.put(calls);
      const expected = ids(calls.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)));
      const seen: string[] = [];
      let before = { at: 1e13, id: '' };
      for (let read = await page({ limit: 3 }, before); read.length > 0; ) {
        seen.push(...ids(read));
        before = read.at(-1) ?? before;
        await store.calls.put([newCall(1_000 + seen.length)]);
        read = await page({ limit: 3 }, before);
      }
      expect(seen).toEqual(expected);
    });

    const odd: Partial<NewCall>[] = [
      { did: 'did:web:a' },
      { key: 'key_b' },
      { model: 'x/1' },
      { provider: 'x' },
      { status: 503, errorCode: 'unavailable', receiptId: null },
      { session: 's' },
      { requestHash: 'ab' },
      { tags: '{"team":"a","step":"2:3"}' },
      { cost: 500n },
      { owner: OTHER },
    ];
    const filters: [CallFilters & { owner?: string }, number[]][] = [
      [{ did: 'did:web:a' }, [0]],
      [{ key: 'key_b' }, [1]],
      [{ model: 'x/1' }, [2]],
      [{ provider: 'x' }, [3]],
      [{ status: 503 }, [4]],
      [{ failed: true }, [4]],
      [{ status: 200, failed: false }, [8, 7, 6, 5, 3, 2, 1, 0]],
      [{ errorCode: 'unavailable' }, [4]],
      [{ billed: false }, [4]],
      [{ session: 's' }, [5]],
      [{ requestHash: 'ab' }, [6]],
      [{ tag: 'team:a' }, [7]],
      [{ tag: 'step:2:3' }, [7]],
      [{ tag: 'step:2' }, []],
      [{ minCost: 8n }, [8]],
      [{ maxCost: 6n }, []],
      [{ minCost: 500n, maxCost: 500n, model: 'openai/small' }, [8]],
      [{ model: 'x/1', provider: 'x' }, []],
      [{ tag: 'team:a', session: 's' }, []],
      [{ tag: 'team:a', model: 'openai/small', status: 200 }, [7]],
      [{ id: 'odd2' }, [2]],
      [{ id: 'odd9' }, []],
      [{ owner: OTHER }, [9]],
      [{ owner: OTHER, tag: 'team:a' }, []],
      [{ owner: OTHER, id: 'odd2' }, []],
      [{ owner: OTHER, minCost: 500n }, []],
    ];

    it.each(filters)('by %o', async (filter, expected) => {
      await store.calls.put(odd.map((change, at) => newCall(100 + at, { id: `odd${at}`, ...change })));
      expect(ids(await page(filter))).toEqual(expected.map((at) => `odd${at}`));
      const [first] = await page({ ...filter, from: 105 }, { at: 107, id: '' });
      const between = expected.find((at) => at >= 5 && at < 7);
      expect(first?.id).toBe(between === undefined ? undefined : `odd${between}`);
    });

    it('and names settled calls that have none, of whom their owner is known', async () => {
      const settle = async (id: string, owner: string | null, key: string | null = null): Promise<void> => {
        await reserve(store.ledger, id, 10n);
        const { receipt, ...settled } = settlement(id, 10n);
        const outcome = await store.ledger.settle({ ...settled, owner, receipt: { ...receipt, key } });
        expect(outcome).toBe('settled');
      };
      await credit(store.ledger, ACCOUNT, 100n);
      await settle('r_env_1_a', ACCOUNT, 'key_a');
      for (const id of ['r_env_2_b', 'r_env_3_c']) await settle(id, ACCOUNT);
      await settle('r_env_2_nobody', null);
      await store.calls.put([newCall(NOW, { id: 'r_env_2_b' })]);
      const range = { after: 'r_env_1', before: 'r_env_9', limit: 10 };
      expect(await store.calls.unlisted(range)).toEqual([
        { id: 'r_env_1_a', owner: ACCOUNT, key: 'key_a', body: '{"id":"r_env_1_a"}' },
        { id: 'r_env_3_c', owner: ACCOUNT, key: null, body: '{"id":"r_env_3_c"}' },
      ]);
      expect(await store.calls.unlisted({ ...range, after: 'r_env_1_a', limit: 1 })).toMatchObject([
        { id: 'r_env_3_c' },
      ]);
    });

    it('and are made again by other processes, once each, where one died before it wrote them', async () => {
      const idOf = (began: number, name: string): string => `r_env_${NOW + began}_${name}`;
      await credit(store.ledger, ACCOUNT, 1_000n);
      const settled = [idOf(-15, 'long'), idOf(-4, 'a'), idOf(-3, 'b'), idOf(-2, 'listed')];
      for (const id of [idOf(-3_600, 'old'), ...settled]) {
        await reserve(store.ledger, id, 10n);
        const { receipt, ...rest } = settlement(id, 10n);
        const body = JSON.stringify({ issued_at: '2027-01-15T08:00:00Z', call: { model: 'openai/small' } });
        const kept = { ...receipt, body, key: 'key_a' };
        await store.ledger.settle({ ...rest, owner: ACCOUNT, receipt: kept });
      }
      await store.calls.put([newCall(NOW, { id: idOf(-2, 'listed'), tags: '{"team":"a"}' })]);
      // Its lease has ended. Up to five seconds ago it had listed everything.
      await store.calls.mark({ process: 'dead', listedUntil: NOW - 5 });
      const sweepOf = (process: string): MissingCalls =>
        new MissingCalls({
          store: store.calls,
          queue: { flush: async () => undefined, takeDropped: () => 0, waiting: 0 },
          process,
          clock: () => NOW * 1_000,
          maxCallMs: 20_000,
        });
      const [one, two] = [sweepOf('one'), sweepOf('two')];
      await Promise.all([one.look(), two.look()]);
      await one.look();
      const rows = await page({});
      expect(ids(rows).toSorted()).toEqual(settled.toSorted());
      const row = rows.find(({ id }) => id === idOf(-4, 'a'));
      expect(row).toMatchObject({ model: 'openai/small', key: 'key_a', totalMs: null, tags: null });
      expect(rows.find(({ id }) => id === idOf(-2, 'listed'))).toMatchObject({ tags: '{"team":"a"}' });
      expect((await store.calls.abandoned()).map(({ process }) => process)).not.toContain('dead');
      const from = { owner: ACCOUNT, span: 86_400, from: 0, to: NOW * 2, by: 'none' } as const;
      const counted = (await store.calls.counts(from)).sums.reduce((sum, { calls }) => sum + calls, 0);
      expect(counted).toBe(settled.length);
    });

    it('and are made again by the process itself that had no room for them', async () => {
      await credit(store.ledger, ACCOUNT, 100n);
      const id = `r_env_${NOW}_dropped`;
      await reserve(store.ledger, id, 10n);
      const { receipt, ...rest } = settlement(id, 10n);
      await store.ledger.settle({ ...rest, owner: ACCOUNT, receipt: { ...receipt, body: '{"call":{}}' } });
      let dropped = 0;
      const sweep = new MissingCalls({
        store: store.calls,
        queue: { flush: async () => undefined, takeDropped: () => dropped, waiting: 0 },
        process: 'one',
        clock: () => NOW * 1_000,
        maxCallMs: 1_000,
      });
      await sweep.look();
      expect(await page({})).toEqual([]);
      dropped = 1;
      await sweep.look();
      expect(ids(await page({}))).toEqual([id]);
    });

    it('and a process whose rows the database does not take says no more than before', async () => {
      const queue = { flush: async () => undefined, takeDropped: () => 0, waiting: 0 };
      let now = NOW;
      const process = 'waiting';
      const sweep = new MissingCalls({
        store: store.calls,
        queue,
        process,
        clock: () => now * 1_000,
        maxCallMs: 1_000,
      });
      await sweep.look();
      const listedUntil = NOW - 30;
      expect(await store.calls.abandoned()).toContainEqual({ process, listedUntil });
      queue.waiting = 1;
      now += 60;
      await sweep.look();
      expect(await store.calls.abandoned()).toContainEqual({ process, listedUntil });
      queue.waiting = 0;
      await sweep.look();
      expect(await store.calls.abandoned()).toContainEqual({ process, listedUntil: listedUntil + 60 });
    });
  });
}
