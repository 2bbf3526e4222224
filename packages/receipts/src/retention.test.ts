import { expect, test } from 'vitest';
import { purgeExpired } from './retention.ts';

const purge = async () => ({ receipts: 0, idempotency: 0, counters: 0 });

test('steps are repeated until none of them has anything left', async () => {
  const left = [2_500, 1_000];
  const steps = left.map((_, index) => async (_now: number, most: number) => {
    const deleted = Math.min(most, left[index] ?? 0);
    left[index] = (left[index] ?? 0) - deleted;
    return deleted;
  });
  await purgeExpired({ purge }, 0, steps);
  expect(left).toEqual([0, 0]);
});

test('a signal ends it after the step under way, however much is left', async () => {
  const closes = new AbortController();
  let steps = 0;
  const endless = async (_now: number, most: number) => {
    steps += 1;
    if (steps === 3) closes.abort();
    return most;
  };
  await purgeExpired({ purge }, 0, [endless], closes.signal);
  expect(steps).toBe(3);
});

test('other work of the process goes on between the steps', async () => {
  const steps: string[] = [];
  const left = [0, 1];
  const step = async (_now: number, most: number) => {
    steps.push('step');
    setImmediate(() => steps.push('other'));
    return left.pop() === undefined ? 0 : most;
  };
  await purgeExpired({ purge }, 0, [step]);
  expect(steps).toEqual(['step', 'other', 'step', 'other', 'step']);
});
