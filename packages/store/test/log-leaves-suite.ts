import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AcceptOutcome, Leaf } from '../../log/src/log-store.ts';
import type { Store } from '../src/store.ts';
import { allLeaves, HOUR, hash, place, request } from './log-fixtures.ts';
import { type CreateDatabase, times, useDatabase } from './test-database.ts';

/** What databases say of a table that is not there. */
const MISSING = /no such table|does not exist/;

function leavesOf(outcomes: readonly AcceptOutcome[]): Leaf[] {
  return outcomes.flatMap((outcome) => (outcome.kind === 'accepted' ? outcome.leaves : []));
}

/** The accepted leaves have contiguous indexes, one for each hash, and batches that never fall. */
async function expectSoundLog(store: Store): Promise<void> {
  const leaves = await allLeaves(store.log);
  expect(leaves.map((leaf) => leaf.index)).toEqual(times(await store.log.countLeaves(), (index) => index));
  expect(new Set(leaves.map((leaf) => leaf.hash.toString())).size).toBe(leaves.length);
  const batches = leaves.map((leaf) => leaf.batchAt);
  expect(batches).toEqual([...batches].sort((a, b) => a - b));
}

/** What {@link LogStore} says of leaves, to be kept by every adapter. */
export function logLeavesSuite(name: string, createDatabase: CreateDatabase): void {
  describe(`${name} keeps the leaves of the log`, () => {
    const { open, close, execute } = useDatabase(createDatabase);
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    const quota = (limit: number) => ({ counter: 'k', limit, expiresAt: HOUR });

    describe('places', () => {
      it('are contiguous from 0, in the order of the request, and the same for the same hash', async () => {
        const [a, b] = await place(store.log, ['a', 'b', 'a']);
        expect([a, b]).toEqual([
          { index: 0, hash: hash('a'), batchAt: HOUR },
          { index: 1, hash: hash('b'), batchAt: HOUR },
        ]);
        const again = await place(store.log, ['b', 'c', 'a', 'c'], { batchAt: HOUR + 60 });
        expect(again).toEqual([
          b,
          { index: 2, hash: hash('c'), batchAt: HOUR + 60 },
          a,
          { index: 2, hash: hash('c'), batchAt: HOUR + 60 },
        ]);
        expect(await store.log.countLeaves()).toBe(3);
      });

      it('are read by hash and index, by others at once and after a reopen', async () => {
        const [leaf] = await place(store.log, ['a']);
        expect(await (await open()).log.findLeaf(hash('a'))).toEqual(leaf);
        await close(store);
        const again = await open();
        expect(await again.log.getLeaf(0)).toEqual(leaf);
        expect(await again.log.findLeaf(hash('b'))).toBeNull();
        expect(await again.log.getLeaf(1)).toBeNull();
        expect(await place(again.log, ['b'])).toMatchObject([{ index: 1 }]);
      });

      it('are bytes of their own, not views that share the database’s buffers', async () => {
        await place(store.log, ['a']);
        const leaf = await store.log.getLeaf(0);
        expect(leaf?.hash).not.toBeInstanceOf(Buffer);
        leaf?.hash.fill(0);
        expect(await store.log.getLeaf(0)).toMatchObject({ hash: hash('a') });
      });

      it('are taken by 10,000 hashes at once, read back in one piece', async () => {
        const names = times(10_000, (i) => i);
        const leaves = await place(store.log, names);
        expect(leaves.map((leaf) => leaf.index)).toEqual(names);
        const bytes = await store.log.readLeaves(0, 20_000);
        expect(Buffer.compare(bytes, Buffer.concat(names.map(hash)))).toBe(0);
        expect(await store.log.readLeaves(8_190, 8_194)).toEqual(bytes.subarray(8_190 * 32, 8_194 * 32));
        expect(await store.log.readLeaves(9_999, 10_000)).toEqual(hash(9_999));
        expect(await store.log.readLeaves(10_000, 10_001)).toEqual(new Uint8Array());
      });

      it('are the same for all who bring a hash at once, over three connections', async () => {
        const stores = [store, await open(), await open()];
        const rounds = times(90, (i) => times(10, (j) => (i * 3 + j * 7) % 200));
        const outcomes = await Promise.all(
          rounds.map((names, i) => place(stores[i % 3]!.log, i % 2 ? names : names.toReversed())),
        );
        await expectSoundLog(store);
        expect(await store.log.countLeaves()).toBe(new Set(rounds.flat()).size);
        for (const leaf of outcomes.flat()) expect(await store.log.getLeaf(leaf.index)).toEqual(leaf);
      });

      it('fail alone when the database refuses a hash', async () => {
        const short = { ...request(['x', 'y']), hashes: [hash('x'), hash('y').subarray(1)] };
        const outcomes = await Promise.allSettled([
          store.log.accept(request(['a'])),
          store.log.accept({ ...short, quota: quota(5) }),
          store.log.accept(request(['b'], { quota: quota(1) })),
        ]);
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect((await allLeaves(store.log)).map((leaf) => leaf.hash)).toEqual([hash('a'), hash('b')]);
      });

      it('are found by their hashes, many at once, over several pages', async () => {
        const count = 2_500;
        await place(
          store.log,
          times(count, (i) => `in ${i}`),
        );
        const asked = times(2 * count, (i) => hash(i % 2 === 0 ? `in ${i / 2}` : `out ${i}`));
        expect(await store.log.indexesOf(asked)).toEqual(
          times(2 * count, (i) => (i % 2 === 0 ? i / 2 : null)),
        );
        expect(await store.log.indexesOf([hash('in 1'), hash('in 1'), hash('x')])).toEqual([1, 1, null]);
        expect(await store.log.indexesOf([])).toEqual([]);
      });

      it('are none when any part of the write fails', async () => {
        await place(store.log, ['a'], { quota: quota(3) });
        for (const table of ['leaves', 'log_state', 'counters']) {
          await execute(`alter table ${table} rename to elsewhere`);
          await expect(store.log.accept(request(['b', 'c'], { quota: quota(3) }))).rejects.toThrow(MISSING);
          await execute(`alter table elsewhere rename to ${table}`);
          expect(await store.log.findLeaf(hash('b'))).toBeNull();
        }
        expect(await place(store.log, ['b', 'c'], { quota: quota(3) })).toMatchObject([
          { index: 1 },
          { index: 2 },
        ]);
      });

      it('are given to all that wait when the store closes, and then to none', async () => {
        const waiting = times(300, (i) => place(store.log, [i]));
        await close(store);
        const leaves = (await Promise.all(waiting)).flat();
        expect(leaves.map((leaf) => leaf.index)).toEqual(times(300, (i) => i));
        await expect(store.log.accept(request(['late']))).rejects.toMatchObject({ code: 'unavailable' });
      });

      it('keep the invariants of the log whoever comes when', async () => {
        const stores = [store, await open(), await open()];
        const calls = fc.array(
          fc.record({
            names: fc.array(fc.nat(120), { maxLength: 12 }),
            store: fc.nat(2),
            batch: fc.nat(3),
            limit: fc.option(fc.nat(60)),
          }),
          { maxLength: 20 },
        );
        let run = 0;
        const counted = async (counter: string): Promise<number> =>
          (await store.consume(counter, 0, HOUR)).used;
        await fc.assert(
          fc.asyncProperty(calls, async (calls) => {
            run += 1;
            const before = await store.log.countLeaves();
            const outcomes = await Promise.all(
              calls.map(({ names, store, batch, limit }) => {
                const quota = limit === null ? null : { counter: `k${run}`, limit, expiresAt: HOUR };
                return stores[store]!.log.accept(request(names, { batchAt: HOUR + batch, quota }));
              }),
            );
            await expectSoundLog(store);
            for (const [i, { names }] of calls.entries()) {
              if (outcomes[i]?.kind !== 'accepted') continue;
              expect(outcomes[i].leaves.map((leaf) => leaf.hash)).toEqual(names.map(hash));
            }
            for (const leaf of leavesOf(outcomes)) expect(await store.log.getLeaf(leaf.index)).toEqual(leaf);
            const added = (await store.log.countLeaves()) - before;
            const used = await counted(`k${run}`);
            expect(used).toBeLessThanOrEqual(Math.max(0, ...calls.map(({ limit }) => limit ?? 0)));
            const allCount = calls.every(({ limit }) => limit !== null);
            expect(used).toBe(allCount ? added : used);
          }),
          { numRuns: 25 },
        );
      });
    });

    describe('quotas', () => {
      it('count each new hash once, and never what is there', async () => {
        await place(store.log, ['old']);
        await place(store.log, ['old', 'a', 'a', 'b'], { quota: quota(2) });
        expect(await store.log.accept(request(['old', 'c'], { quota: quota(2) }))).toEqual({
          kind: 'over_quota',
          used: 2,
          requested: 1,
        });
        expect(await place(store.log, ['old', 'a', 'b'], { quota: quota(0) })).toHaveLength(3);
        expect(await store.consume('k', 3, HOUR)).toEqual({ allowed: true, used: 3 });
      });

      it('place and count nothing of a request that would pass them, and go on with the next', async () => {
        const outcomes = await Promise.all([
          store.log.accept(request(['a', 'b'], { quota: quota(3) })),
          store.log.accept(request(['c', 'd'], { quota: quota(3) })),
          store.log.accept(request(['a', 'd'], { quota: quota(3) })),
          store.log.accept(request(['c'], { quota: { ...quota(1), counter: 'other' } })),
        ]);
        expect(outcomes[1]).toEqual({ kind: 'over_quota', used: 2, requested: 2 });
        const placed = (await allLeaves(store.log)).map((leaf) => leaf.hash);
        expect(placed).toEqual(['a', 'b', 'd', 'c'].map(hash));
        expect(await store.consume('k', 3, HOUR)).toEqual({ allowed: false, used: 3 });
      });

      it('are never passed, over two connections, and start again once purged', async () => {
        const other = await open();
        const outcomes = await Promise.all(
          times(40, (i) =>
            (i % 2 ? store : other).log.accept(request([`${i}`, `${i}+`], { quota: quota(25) })),
          ),
        );
        expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(12);
        expect(await store.log.countLeaves()).toBe(24);
        await store.purge(HOUR);
        expect(await place(store.log, ['x', 'y'], { quota: quota(2) })).toHaveLength(2);
      });
    });

    describe('batches', () => {
      it('never fall as indexes rise, however the clocks of processes differ', async () => {
        const other = await open();
        await place(store.log, ['a'], { batchAt: HOUR + 10 });
        expect(await place(other.log, ['b', 'a'], { batchAt: HOUR })).toMatchObject([
          { index: 1, batchAt: HOUR + 10 },
          { index: 0, batchAt: HOUR + 10 },
        ]);
      });

      it('take nothing more once closed', async () => {
        const epoch = (await store.log.acquireLease('leader', 60))?.epoch ?? 0;
        await place(store.log, ['a', 'b'], { batchAt: HOUR });
        expect(await store.log.closeBatch(epoch, HOUR, HOUR + 60)).toBe(2);
        const other = await open();
        expect(await place(other.log, ['c', 'a'], { batchAt: HOUR })).toMatchObject([
          { index: 2, batchAt: HOUR + 60 },
          { index: 0, batchAt: HOUR },
        ]);
        expect(await store.log.closeBatch(epoch, HOUR, HOUR + 30)).toBe(3);
        expect(await place(other.log, ['d'], { batchAt: HOUR })).toMatchObject([{ batchAt: HOUR + 60 }]);
        expect(await place(other.log, ['e'], { batchAt: HOUR + 90 })).toMatchObject([{ batchAt: HOUR + 90 }]);
        await expect(store.log.closeBatch(epoch, HOUR, HOUR)).rejects.toThrow(RangeError);
      });

      it('hold every leaf that was promised to them, when they close in the middle of accepts', async () => {
        const other = await open();
        const epoch = (await store.log.acquireLease('leader', 60))?.epoch ?? 0;
        const accepts = times(120, (i) => place((i % 2 ? store : other).log, [i], { batchAt: HOUR }));
        await Promise.race(accepts);
        const closed = await store.log.closeBatch(epoch, HOUR, HOUR + 60);
        await Promise.all(accepts);
        const leaves = await allLeaves(store.log);
        expect(leaves.map((leaf) => leaf.batchAt)).toEqual(
          times(120, (i) => (closed !== 'fenced' && i < closed ? HOUR : HOUR + 60)),
        );
      });
    });
  });
}
