import { setTimeout } from 'node:timers/promises';

const SUBMIT_MS = 50;
const POLL_MS = 4;

/**
 * Milliseconds from the answer that accepts a hash to the first answer with a checkpoint that covers it, sorted.
 * Hashes are submitted at random times, about twenty a second.
 *
 * @param submit resolves to the index of a hash that was just accepted
 */
export async function coverTimes(
  url: string,
  submit: () => Promise<number>,
  seconds: number,
): Promise<number[]> {
  const waiting = new Map<number, number>();
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;

  async function submitAll(): Promise<void> {
    while (performance.now() < end) {
      const index = await submit();
      const accepted = performance.now();
      // After the end nobody may be polling any more.
      if (accepted < end) waiting.set(index, accepted);
      await setTimeout(2 * SUBMIT_MS * Math.random());
    }
  }

  async function poll(): Promise<void> {
    while (performance.now() < end || waiting.size > 0) {
      const size = await treeSize(url);
      const now = performance.now();
      for (const [index, accepted] of waiting) {
        if (index >= size) continue;
        times.push(now - accepted);
        waiting.delete(index);
      }
      await setTimeout(POLL_MS);
    }
  }

  await Promise.all([submitAll(), poll()]);
  return times.toSorted((a, b) => a - b);
}

async function treeSize(url: string): Promise<number> {
  const note = await (await fetch(`${url}/checkpoint`)).text();
  return Number(note.split('\n')[1]);
}
