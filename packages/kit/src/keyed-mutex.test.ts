import { describe, expect, it } from 'vitest';
import { createKeyedMutex } from './keyed-mutex.ts';

describe('turns', () => {
  it('the work of one name waits for the one before, failed or not', async () => {
    const turns = createKeyedMutex();
    const seen: string[] = [];
    const step = (name: string, fails: boolean) => async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
    const results = await Promise.allSettled([
      turns('a', step('first', true)),
      turns('a', step('second', false)),
      turns('a', step('third', false)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(seen).toEqual(['first', 'second', 'third'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('other names do not wait', async () => {
    const turns = createKeyedMutex();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = turns('a', () => promise);
    expect(await turns('b', async () => 7)).toBe(7);
    resolve();
    await slow;
    expect(await turns('a', async () => 8)).toBe(8);
  });
});
