import { expect, it, vi } from 'vitest';
import { boundedMeasure } from './measuring.ts';

it('brings the values up to date before it resolves, and says so', async () => {
  const order: string[] = [];
  const look = boundedMeasure(
    async () => void order.push('looked'),
    () => void order.push('done'),
  );
  await look();
  expect(order).toEqual(['looked', 'done']);
});

it('resolves when looking fails, and then does not say that it is done', async () => {
  const done = vi.fn<() => void>();
  await boundedMeasure(() => Promise.reject(new Error('no route')), done)();
  expect(done).not.toHaveBeenCalled();
});

it('waits a second for a look that hangs, and the next time not at all; one look runs at a time', async () => {
  const hang = Promise.withResolvers<void>();
  const looks = vi.fn<() => Promise<void>>(() => hang.promise);
  const look = boundedMeasure(looks, () => undefined);
  await look();
  await look();
  expect(looks).toHaveBeenCalledTimes(1);
  hang.resolve();
  await vi.waitFor(
    async () => {
      await look();
      expect(looks).toHaveBeenCalledTimes(2);
    },
    { timeout: 60_000 },
  );
});
