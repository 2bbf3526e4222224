import { expect, it } from 'vitest';
import { GroupCommit } from './group-commit.ts';

function recorder(fail: (batch: readonly number[]) => void = () => undefined, maxPending = 100) {
  const batches: number[][] = [];
  const queue = new GroupCommit<number, string>({
    commit: async (batch) => {
      batches.push([...batch]);
      fail(batch);
      return batch.map(String);
    },
    isRowFault: (error) => error instanceof RangeError,
    maxBatch: 4,
    maxPending,
  });
  return { batches, queue };
}

function statuses(results: readonly PromiseSettledResult<string>[]): string[] {
  return results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'));
}

it('commits what arrives together in bounded batches, in order', async () => {
  const { batches, queue } = recorder();
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => queue.submit(n)));
  expect(results).toEqual(['1', '2', '3', '4', '5', '6']);
  expect(batches).toEqual([
    [1, 2, 3, 4],
    [5, 6],
  ]);
});

it('runs one transaction at a time: what arrives meanwhile shares the next', async () => {
  const gate = Promise.withResolvers<void>();
  const batches: number[][] = [];
  const queue = new GroupCommit<number, number>({
    commit: async (batch) => {
      batches.push([...batch]);
      if (batches.length === 1) {
        queueMicrotask(() => {
          for (const n of [2, 3]) later.push(queue.submit(n));
          gate.resolve();
        });
        await gate.promise;
      }
      return batch;
    },
    isRowFault: () => false,
    maxBatch: 4,
    maxPending: 100,
  });
  const later: Promise<number>[] = [];
  await queue.submit(1);
  await Promise.all(later);
  expect(batches).toEqual([[1], [2, 3]]);
});

it('lets a row that is at fault fail alone', async () => {
  const { queue } = recorder((batch) => {
    if (batch.includes(2)) throw new RangeError('bad row');
  });
  const results = await Promise.allSettled([1, 2, 3].map((n) => queue.submit(n)));
  expect(statuses(results)).toEqual(['1', 'failed', '3']);
});

it('rejects all that share a transaction that failed, and tries none of them again', async () => {
  const { batches, queue } = recorder((batch) => {
    if (batch.includes(2)) throw new Error('disk full');
  });
  const results = await Promise.allSettled([1, 2, 3].map((n) => queue.submit(n)));
  expect(statuses(results)).toEqual(['failed', 'failed', 'failed']);
  expect(batches).toHaveLength(1);
  expect(await queue.submit(4)).toBe('4');
});

it('refuses what does not fit into the queue', async () => {
  const { queue } = recorder(undefined, 2);
  const results = await Promise.allSettled([1, 2, 3].map((n) => queue.submit(n)));
  expect(statuses(results)).toEqual(['1', '2', 'failed']);
  expect(results[2]).toMatchObject({ reason: { code: 'unavailable' } });
  expect(await queue.submit(4)).toBe('4');
});

it('settles what waits before it closes, then refuses', async () => {
  const { queue } = recorder();
  const waiting = Promise.all([1, 2, 3, 4, 5].map((n) => queue.submit(n)));
  await queue.close();
  expect(await Promise.race([waiting, Promise.resolve('unsettled')])).not.toBe('unsettled');
  await expect(queue.submit(6)).rejects.toMatchObject({ code: 'unavailable' });
});

it('takes requests by their weight, and one that is too heavy on its own', async () => {
  const batches: number[][] = [];
  const queue = new GroupCommit<number, number>({
    commit: async (batch) => {
      batches.push([...batch]);
      return batch;
    },
    isRowFault: () => false,
    weigh: (weight) => weight,
    maxBatch: 10,
    maxPending: 40,
  });
  const settled = await Promise.allSettled([4, 6, 1, 12, 9, 8, 5, 1].map((n) => queue.submit(n)));
  expect(batches).toEqual([[4, 6], [1], [12], [9], [8]]);
  expect(settled.slice(6)).toMatchObject([
    { reason: { code: 'unavailable' } },
    { reason: { code: 'unavailable' } },
  ]);
  expect(await Promise.all([39, 1].map((n) => queue.submit(n)))).toEqual([39, 1]);
});
