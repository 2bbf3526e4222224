import { EvidenceIntake, evidenceVerifier, type JsonObject } from '@tallystick/core';
import { expect, it } from 'vitest';
import { LeafBudget, type LineOptions, readMeteredLines } from './metering-lines.ts';

const hash = (unit: number): string => unit.toString(16).padStart(64, '0');

async function* lines(from: number, to: number, atEnd?: () => Promise<void>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('{}\n');
  for (let unit = from; unit <= to; unit++)
    yield Buffer.from(`{"receipt_sha256":"${hash(unit)}","unit":${unit}}\n`);
  await atEnd?.();
}

const options = (budget: LeafBudget): LineOptions => ({
  readBill: (value) => value as JsonObject,
  openIntake: () =>
    new EvidenceIntake(
      { billed_unit_count: 100, window_start: '2026-01-01T00:00:00Z', window_end: '2026-01-02T00:00:00Z' },
      evidenceVerifier({ now: 0 }),
    ),
  budget,
});

it('streams share a budget of leaves, and give back their part however they end', async () => {
  const budget = new LeafBudget(10);
  const read = (chunks: AsyncGenerator<Uint8Array>) => readMeteredLines(chunks, options(budget));
  const [holding, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = read(
    lines(1, 6, () => {
      holding.resolve();
      return held.promise;
    }),
  );
  await holding.promise;
  await expect(read(lines(1, 5))).rejects.toMatchObject({ code: 'unavailable' });
  expect((await read(lines(1, 4))).evidence.backed).toBe(4);
  await expect(read(lines(101, 101))).rejects.toMatchObject({ code: 'metering_unit_range' });
  held.resolve();
  expect((await first).evidence.backed).toBe(6);
  expect((await read(lines(1, 10))).evidence.backed).toBe(10);
});
