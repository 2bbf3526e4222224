import { expect, test } from 'vitest';
import { Progress } from './progress.ts';

/** What 2,048 leaves of 100 bytes draw, 1 ms each. */
function drawn(isTTY: boolean, total: number): string[] {
  const writes: string[] = [];
  let time = 0;
  const progress = new Progress({ isTTY, write: (text) => writes.push(text) }, total, () => time);
  for (let leaf = 0; leaf < 2048; leaf++) {
    time += 1;
    progress.read(100);
    progress.leaf();
  }
  progress.end();
  return writes;
}

test('a terminal is told leaves, rate and share, and gets its line back', () => {
  const writes = drawn(true, 409_600);
  expect(writes).toHaveLength(5);
  expect(writes[1]).toBe('\r\x1b[K██████░░░░░░░░░░░░░░░░░░ 25 %  1,024 leaves, 1,000/s');
  expect(writes.at(-1)).toBe('\r\x1b[K');
});

test('where nobody knows how much there is, the share is left out', () => {
  expect(drawn(true, 0)[0]).toBe('\r\x1b[K512 leaves, 1,000/s');
});

test('a pipe hears nothing', () => {
  expect(drawn(false, 409_600)).toEqual([]);
});
