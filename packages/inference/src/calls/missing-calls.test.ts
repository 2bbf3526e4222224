import { expect, it } from 'vitest';
import type { CallStore } from './call-store.ts';
import { MissingCalls, PENDING } from './missing-calls.ts';

const NOW = 1_000_000;
const MAX_CALL_SECONDS = 600;
/** Number of searches, each through ten seconds, from 700 seconds ago until now: a mark is 100 seconds old, and a call may have begun 600 before it. */
const RANGES = 71;

/** A store with the marks of processes that have ended, and a search through it. */
function search(abandoned: readonly string[], dropped: () => number = () => 0) {
  const marks = new Map(abandoned.map((process) => [process, NOW - 100]));
  const asked: string[] = [];
  const store = {
    unlisted: async ({ after }: { after: string }) => {
      asked.push(after);
      return [];
    },
    put: async () => undefined,
    mark: async ({ process, listedUntil }: { process: string; listedUntil: number }) =>
      void marks.set(process, listedUntil),
    unmark: async (process: string) => void marks.delete(process),
    abandoned: async () => [...marks].map(([process, listedUntil]) => ({ process, listedUntil })),
  };
  const calls = new MissingCalls({
    store: store as Partial<CallStore> as CallStore,
    queue: { flush: async () => undefined, takeDropped: dropped, waiting: 0 },
    process: 'own',
    clock: () => NOW * 1_000,
    maxCallMs: MAX_CALL_SECONDS * 1_000,
  });
  return { calls, store, marks, asked };
}

it('looks through the time once for all processes that have ended', async () => {
  const { calls, marks, asked } = search(['a', 'b', 'c']);
  await calls.look();
  expect(asked).toHaveLength(RANGES);
  expect(new Set(asked).size).toBe(RANGES);
  expect([...marks.keys()]).toEqual(['own']);
});

it('stops where it is, and leaves the rest to others', async () => {
  const { calls, store, marks, asked } = search(['a', 'b']);
  const begun = Promise.withResolvers<void>();
  const unlisted = store.unlisted;
  store.unlisted = (range) => {
    begun.resolve();
    return unlisted(range);
  };
  const failures: unknown[] = [];
  const stop = calls.start((error) => failures.push(error));
  await begun.promise;
  await stop();
  expect(asked.length).toBeLessThan(3);
  expect([...marks.keys()]).toEqual(['a', 'b']);
  expect(failures).toEqual([]);
});

it('makes dropped rows again until that is done, and says no more before', async () => {
  let dropped = 1;
  const { calls, store, marks, asked } = search([], () => dropped--);
  const { unlisted } = store;
  store.unlisted = async () => {
    throw new Error('The database is away.');
  };
  await expect(calls.look()).rejects.toThrow('away');
  expect(marks.size).toBe(0);
  store.unlisted = unlisted;
  await calls.look();
  expect(asked.length).toBeGreaterThan(MAX_CALL_SECONDS / 10);
  expect([...marks]).toEqual([['own', NOW - PENDING]]);
});

it('leaves its mark where it is stopped before dropped rows are made again', async () => {
  const { calls, marks, asked } = search([], () => 1);
  const stop = calls.start(() => undefined);
  await stop();
  expect(asked).toEqual([]);
  expect([...marks]).toEqual([['own', NOW]]);
});
