import { type Random, randomOf } from '../packages/core/test/random.ts';

/**
 * Random numbers of a test under load, and their seed on standard error: what failed is drawn again with
 * TALLY_TEST_SEED set to it, though not in the same order where several clients draw at once.
 */
export function drawing(what: string): Random {
  const given = process.env.TALLY_TEST_SEED;
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  process.stderr.write(`${what}: TALLY_TEST_SEED=${seed}\n`);
  return randomOf(seed);
}
