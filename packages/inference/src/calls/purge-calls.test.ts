import { expect, test } from 'vitest';
import { purgeCalls } from './purge-calls.ts';

test('calls of whole days are purged, and none where they are kept for ever', async () => {
  const asked: number[][] = [];
  const calls = { purge: async (...values: [number, number]) => asked.push(values) };
  const noon = Date.parse('2026-11-27T12:00:00Z') / 1_000;
  expect(await purgeCalls(calls, 0, noon, 10)).toBe(0);
  expect(asked).toEqual([]);
  expect(await purgeCalls(calls, 2, noon, 10)).toBe(1);
  expect(asked).toEqual([[Date.parse('2026-11-25T00:00:00Z') / 1_000, 10]]);
});
