import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ProviderError } from '../providers/provider.ts';
import { createHealth } from './health.ts';
import type { RestStore, ToldRest } from './rest-store.ts';
import { shareHealth } from './shared-health.ts';

const model = { provider: 'up', upstreamModel: 'm-1' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A store that others never write to. */
function quietStore(): Pick<RestStore, 'tell' | 'toldByOthers'> & {
  readonly told: (readonly ToldRest[])[];
  down: boolean;
} {
  const told: (readonly ToldRest[])[] = [];
  const store = {
    told,
    down: false,
    tell: async (_: string, rests: readonly ToldRest[]) => {
      if (store.down) throw new Error('down');
      told.push(rests);
    },
    toldByOthers: async () => [],
  };
  return store;
}

it('tells only what has changed, and tells it again where the store was down', async () => {
  const health = createHealth({ now: () => Date.now() });
  const store = quietStore();
  const onFailure = vi.fn<(error: unknown) => void>();
  const stop = shareHealth({ health, store, process: 'p', onFailure });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.told).toEqual([]);

  store.down = true;
  health.failure(model, new ProviderError('overloaded', 'failed', { retryAfterMs: 6_500 }));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(onFailure).toHaveBeenCalledTimes(2);
  store.down = false;
  await vi.advanceTimersByTimeAsync(4_000);
  expect(store.told).toMatchObject([[{ model: 'up/m-1', why: 'overloaded', remainingMs: 3_500 }]]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.told.slice(1)).toEqual([[]]);

  await stop();
  health.failure(model, new ProviderError('auth', 'failed'));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.told).toHaveLength(2);
});
