import { expect, it } from 'vitest';
import type { ListedCall } from './call-store.ts';
import { followCalls } from './follow-calls.ts';

const SECOND = 1_000;

/** A list of calls, a clock, and who follows the list. */
function followed() {
  const listed: { readonly id: string; readonly at: number }[] = [];
  let now = 1_800_000_000_000;
  const ended = new AbortController();
  const calls = followCalls({
    read: async (from) =>
      listed.filter(({ at }) => at >= from).toSorted((a, b) => b.at - a.at) as unknown as ListedCall[],
    clock: () => now,
    signal: ended.signal,
    everyMs: 0,
  });
  return {
    /** Lists a call that ended so many milliseconds ago. */
    list: (id: string, ago: number) => listed.push({ id, at: now - ago }),
    pass: (ms: number) => {
      now += ms;
    },
    next: async () => (await calls.next()).value?.map(({ id }) => id),
    end: () => ended.abort(),
  };
}

it('yields each call once, oldest first, although each read goes back five seconds', async () => {
  const { list, pass, next, end } = followed();
  list('before', 10);
  const seen: (string[] | undefined)[] = [await next()];
  list('a', 20);
  list('b', 10);
  seen.push(await next());
  for (let second = 0; second < 7; second += 1) {
    pass(SECOND);
    list(`c${second}`, 0);
    seen.push(await next());
  }
  expect(seen).toEqual([[], ['a', 'b'], ['c0'], ['c1'], ['c2'], ['c3'], ['c4'], ['c5'], ['c6']]);
  end();
  expect(await next()).toBeUndefined();
});

it('misses no call that another process lists late, among those that it has seen', async () => {
  const { list, pass, next } = followed();
  await next();
  pass(SECOND);
  list('new', 0);
  expect(await next()).toEqual(['new']);
  // It ended before the one that was shown, and is listed after it.
  list('late', 4 * SECOND);
  expect(await next()).toEqual(['late']);
  pass(SECOND);
  expect(await next()).toEqual([]);
});
