import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { discardRest } from './discard-rest.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A request of which more comes, and whether its connection was cut. */
function request() {
  const body = new PassThrough();
  const cut = vi.fn<() => void>();
  discardRest(
    Object.assign(body, { complete: false, socket: { destroySoon: cut } }) as unknown as IncomingMessage,
  );
  return { body, cut };
}

it('waits half a minute at most for what keeps coming', async () => {
  const { body, cut } = request();
  for (let second = 0; second < 28; second += 4) {
    body.write('x');
    await setImmediate();
    vi.advanceTimersByTime(4_000);
  }
  expect(cut).not.toHaveBeenCalled();
  body.write('x');
  await setImmediate();
  vi.advanceTimersByTime(2_000);
  expect(cut).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});

it('takes 64 MiB at most', async () => {
  const { body, cut } = request();
  const mebibyte = Buffer.alloc(1024 * 1024);
  for (let sent = 0; sent < 64; sent += 1) {
    body.write(mebibyte);
    await setImmediate();
  }
  expect(cut).not.toHaveBeenCalled();
  body.write('x');
  await setImmediate();
  expect(cut).toHaveBeenCalledOnce();
});

it('leaves nothing behind where all has come', async () => {
  const { body, cut } = request();
  body.end('x');
  await setImmediate();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(60_000);
  expect(cut).not.toHaveBeenCalled();
});
