import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createBackground } from './background.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('logs a failure when it begins, every ten minutes while it lasts, and when it comes back', async () => {
  const lines: string[] = [];
  let works = false;
  const background = createBackground({ warn: (_, message) => void lines.push(message) });
  background.every(1_000, 'resting', async () => {
    if (!works) throw new Error('no bed');
  });
  await vi.advanceTimersByTimeAsync(600_000);
  expect(lines).toEqual(['resting failed and will be retried']);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(lines).toHaveLength(2);
  works = true;
  await vi.advanceTimersByTimeAsync(5_000);
  works = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toHaveLength(3);
  await background.close();
});
