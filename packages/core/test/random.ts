/** A seed, another one each time; that in `MUTATION_SEED`, if it is set. */
export const newSeed = (): number => Number(process.env.MUTATION_SEED ?? Math.floor(Math.random() * 2 ** 32));

/** A small generator whose stream follows from its seed (mulberry32), so that a failure can be reproduced. */
export interface Random {
  /** An integer in [0, below). */
  below(below: number): number;
  pick<T>(items: readonly T[]): T;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, pick: (items) => items[below(items.length)] as (typeof items)[number] };
}
