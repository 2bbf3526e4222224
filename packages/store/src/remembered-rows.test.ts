import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RememberedRows } from './remembered-rows.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Rows that are numbered by how often they were read. */
function counting(outsideVersion: () => number | null) {
  let reads = 0;
  const rows = new RememberedRows(outsideVersion);
  return { rows, read: () => rows.of('a', async () => ({ read: ++reads })) };
}

it('reads a row again only once another connection has committed', async () => {
  let version = 1;
  const { read } = counting(() => version);
  expect(await read()).toEqual({ read: 1 });
  vi.advanceTimersByTime(60_000);
  expect(await read()).toEqual({ read: 1 });
  version = 2;
  expect(await read()).toEqual({ read: 2 });
});

it('uses a row for a second from when it was asked for where it cannot know', async () => {
  const { rows, read } = counting(() => null);
  const slowly = rows.of('slow', async () => {
    vi.advanceTimersByTime(600);
    return { read: 0 };
  });
  expect(await slowly).toEqual({ read: 0 });
  vi.advanceTimersByTime(399);
  expect(await rows.of('slow', async () => ({ read: 1 }))).toEqual({ read: 0 });
  vi.advanceTimersByTime(1);
  expect(await rows.of('slow', async () => ({ read: 1 }))).toEqual({ read: 1 });
  expect(await read()).toEqual({ read: 1 });
});

it('reads a row that is in use once more before its second ends, and nobody waits for that', async () => {
  const { rows } = counting(() => null);
  await rows.of('a', async () => ({ read: 1 }));
  vi.advanceTimersByTime(500);
  const asked = Promise.withResolvers<{ read: number }>();
  expect(await rows.of('a', () => asked.promise)).toEqual({ read: 1 });
  expect(await rows.of('a', () => expect.unreachable('it is being read'))).toEqual({ read: 1 });
  asked.resolve({ read: 2 });
  await asked.promise;
  vi.advanceTimersByTime(999);
  expect(await rows.of('a', async () => ({ read: 3 }))).toEqual({ read: 2 });
});

it('ends with its second where the row can’t be read again, or is gone', async () => {
  const { rows } = counting(() => null);
  await rows.of('a', async () => ({ read: 1 }));
  vi.advanceTimersByTime(500);
  const away = Promise.reject(new Error('away'));
  expect(await rows.of('a', () => away)).toEqual({ read: 1 });
  vi.advanceTimersByTime(500);
  await expect(rows.of('a', () => away)).rejects.toThrow('away');
  await rows.of('a', async () => ({ read: 2 }));
  vi.advanceTimersByTime(500);
  const gone = Promise.resolve(null);
  expect(await rows.of('a', () => gone)).toEqual({ read: 2 });
  await gone;
  expect(await rows.of('a', async () => null)).toBeNull();
});

it('does not remember what was asked for before a change', async () => {
  const { rows } = counting(() => 1);
  const asked = Promise.withResolvers<{ read: string }>();
  const before = rows.of('a', () => asked.promise);
  await rows.after(Promise.resolve());
  asked.resolve({ read: 'before' });
  expect(await before).toEqual({ read: 'before' });
  expect(await rows.of('a', async () => ({ read: 'after' }))).toEqual({ read: 'after' });
});

it('forgets after a change that failed, too, and never remembers that there is no row', async () => {
  const { rows, read } = counting(() => 1);
  await read();
  await expect(rows.after(Promise.reject(new Error('lost the connection')))).rejects.toThrow('lost');
  expect(await read()).toEqual({ read: 2 });
  expect(await rows.of('b', async () => null)).toBeNull();
  expect(await rows.of('b', async () => ({ read: 1 }))).toEqual({ read: 1 });
});
