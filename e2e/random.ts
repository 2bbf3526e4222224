import { type Random, randomOf } from '../packages/core/test/random.ts';

/**
 * Random numbers for a test under load. Their seed is printed on standard error: TALLY_TEST_SEED set to it draws the same
 * numbers again, though not in the same order if several clients draw at once.
 */
export function drawing(what: string): Random {
  const chosenSeed = process.env.TALLY_TEST_SEED;
  const seed = chosenSeed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(chosenSeed);
  process.stderr.write(`${what}: TALLY_TEST_SEED=${seed}\n`);
  return randomOf(seed);
}
