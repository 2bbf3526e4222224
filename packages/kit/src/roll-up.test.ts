import { expect, it } from 'vitest';
import { RollUp } from './roll-up.ts';

it('writes rows in bulk and in order, and no more at once than it may', async () => {
  const written: number[][] = [];
  const rollUp = new RollUp<number>({ mostAtOnce: 2, write: async (rows) => void written.push([...rows]) });
  rollUp.add(1);
  rollUp.add(2, 3);
  await rollUp.flush();
  expect(written).toEqual([[1, 2], [3]]);
  expect(rollUp.waiting).toBe(0);
});

it('keeps rows that could not be written', async () => {
  const written: number[] = [];
  let fails = true;
  const rollUp = new RollUp<number>({
    async write(rows) {
      if (fails) throw new Error('no database');
      written.push(...rows);
    },
  });
  rollUp.add(1, 2);
  await expect(rollUp.flush()).rejects.toThrow('no database');
  fails = false;
  rollUp.add(3);
  await rollUp.flush();
  expect(written).toEqual([1, 2, 3]);
});

it('drops what finds no room, and says how many rows that were', async () => {
  const dropped: number[] = [];
  const written: number[] = [];
  const rollUp = new RollUp<number>({
    mostWaiting: 2,
    write: async (rows) => void written.push(...rows),
    dropped: (rows) => dropped.push(rows),
  });
  rollUp.add(1);
  rollUp.add(2, 3, 4);
  rollUp.add(5);
  await rollUp.flush();
  expect([written, dropped]).toEqual([
    [1, 2],
    [2, 1],
  ]);
});

it('takes rows while it writes, and writes each once', async () => {
  const written: number[] = [];
  const rollUp = new RollUp<number>({
    async write(rows) {
      if (rows.includes(1)) rollUp.add(2);
      written.push(...rows);
    },
  });
  rollUp.add(1);
  await Promise.all([rollUp.flush(), rollUp.flush()]);
  expect(written).toEqual([1, 2]);
});
