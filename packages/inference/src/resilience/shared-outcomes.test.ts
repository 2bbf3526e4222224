import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { CompressionStore, Note } from '../compression-store.ts';
import { ProviderError } from '../providers/provider.ts';
import { createHealth, type Health } from './health.ts';
import { shareOutcomes } from './shared-outcomes.ts';

const model = { provider: 'up', upstreamModel: 'm-1' };
const EVERY_MS = 5_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One place of a `CompressionStore`, whose notes end. */
function placeOfNotes(): Pick<CompressionStore, 'recall' | 'remember'> & { writes: number; down: boolean } {
  const notes = new Map<string, { value: string; expiresAt: number }>();
  const live = (now: number) =>
    new Map([...notes].flatMap(([key, { value, expiresAt }]) => (expiresAt > now ? [[key, value]] : [])));
  const store = {
    writes: 0,
    down: false,
    async recall(_account: string, _place: string, now: number) {
      return live(now);
    },
    async remember(
      _account: string,
      _place: string,
      written: readonly Note[],
      { now, expiresAt }: { now: number; expiresAt: number },
    ) {
      if (store.down) throw new Error('down');
      for (const { key, value, replaces } of written) {
        const standing = live(now).get(key) ?? replaces;
        if (standing === replaces) notes.set(key, { value, expiresAt });
      }
      store.writes += 1;
      return live(now);
    },
  };
  return store;
}

/** Processes that share a place of notes. The clock of each is some milliseconds ahead. */
function share(store: ReturnType<typeof placeOfNotes>, aheadMs: readonly number[]) {
  const onFailure = vi.fn<(error: unknown) => void>();
  const processes: Health[] = [];
  const stops = aheadMs.map((ahead, index) => {
    const health = createHealth({ now: () => Date.now() + index * 1_000_000 });
    processes.push(health);
    return shareOutcomes({
      health,
      store,
      process: `p-${index}`,
      clock: () => Date.now() + ahead,
      onFailure,
    });
  });
  return { processes, onFailure, stop: () => Promise.all(stops.map((stop) => stop())) };
}

const failed = new ProviderError('server', 'failed');

it('makes one record of the calls of all processes, until they are five minutes old', async () => {
  const store = placeOfNotes();
  const { processes, stop } = share(store, [0, 0, 0]);
  const [one, two, three] = processes as [Health, Health, Health];
  expect(three.light(model)).toEqual({ state: 'unknown', code: 'not_called' });
  one.success(model);
  await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
  expect(three.light(model)).toEqual({ state: 'up', code: 'ok' });
  expect(three.sinceLastCall(model)).toBe(2 * EVERY_MS);

  // A failure in each of three processes is three in a row.
  for (const health of [one, two]) health.failure(model, failed);
  await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
  expect(three.light(model)).toEqual({ state: 'degraded', code: 'server' });
  three.failure(model, failed);
  expect(three.light(model)).toEqual({ state: 'down', code: 'server' });
  expect(three.recent(model)).toEqual({ answered: 1, failed: 3 });
  expect(three.available(model)).toBe(true);

  // An answer anywhere ends them.
  await vi.advanceTimersByTimeAsync(1);
  two.success(model);
  await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
  expect(three.light(model)).toEqual({ state: 'degraded', code: 'failing' });
  await vi.advanceTimersByTimeAsync(310_000);
  for (const health of processes)
    expect(health.light(model)).toEqual({ state: 'unknown', code: 'not_called' });
  await stop();
});

it('writes what has changed, and writes it later where the store was down', async () => {
  const store = placeOfNotes();
  const { processes, onFailure, stop } = share(store, [0, 0]);
  const [one, other] = processes as [Health, Health];
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(store.writes).toBe(0);
  store.down = true;
  one.success(model);
  await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
  expect(onFailure).toHaveBeenCalledTimes(2);
  expect(other.sinceLastCall(model)).toBeNull();
  store.down = false;
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(store.writes).toBe(1);
  expect(other.sinceLastCall(model)).toBe(5 * EVERY_MS);
  await stop();
  one.success(model);
  await vi.advanceTimersByTimeAsync(3 * EVERY_MS);
  expect(store.writes).toBe(1);
});

it('takes a time that is ahead of its own clock for now', async () => {
  const store = placeOfNotes();
  const { processes, stop } = share(store, [60_000, 0]);
  const [ahead, behind] = processes as [Health, Health];
  ahead.success(model);
  await vi.advanceTimersByTimeAsync(2 * EVERY_MS);
  expect(behind.sinceLastCall(model)).toBeLessThanOrEqual(2 * EVERY_MS);
  expect(behind.light(model)).toEqual({ state: 'up', code: 'ok' });
  await stop();
});
