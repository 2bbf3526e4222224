import type { TokenPrices } from '../token-prices.ts';

/** A provider that caches by itself does so from this many tokens on. */
export const CACHE_MINIMUM = 1_024;
/** And reads from its cache in steps of so many, or of a divisor of it. */
export const CACHE_STEP = 128;

/** What a provider that caches by itself reads its cache for. */
export interface CachePrice extends Pick<TokenPrices, 'inputPerMTok' | 'cacheReadPerMTok'> {
  /** Whether tokens are counted as the provider does. */
  readonly exact: boolean;
}

/** Of the tokens that an encoding other than the provider's counts, the share that is taken for certain. */
export const CERTAIN = 0.75;

/**
 * Whether a prompt may begin so in every later call: with `left` tokens, `saved` fewer than it came with. Reading the
 * longer beginning from the cache must not be worth more than what was saved. Of that beginning the cache has at most as
 * many more tokens as the steps that `saved` reaches into; and where it has nothing of the shorter one, which is too
 * short, at most the steps below the minimum besides. Where within a step it ends is not known, and changes from call to
 * call as what follows grows, so the worst is taken.
 */
export function isNoDearer(price: CachePrice, saved: number, left: number): boolean {
  const { inputPerMTok: input, cacheReadPerMTok: read, exact } = price;
  if (saved === 0 || read >= input) return true;
  const certain = exact ? saved : Math.floor(saved * CERTAIN);
  const steps = exact ? Math.ceil(saved / CACHE_STEP) * CACHE_STEP : certain + CACHE_STEP - 1;
  const unread = left >= leastLeft(price) ? 0 : CACHE_MINIMUM - CACHE_STEP;
  return BigInt(steps + unread) * (input - read) <= BigInt(certain) * input;
}

/** Tokens of a prompt from which on what it saves may be small. */
export function leastLeft({ exact }: CachePrice): number {
  return exact ? CACHE_MINIMUM : Math.ceil(CACHE_MINIMUM / CERTAIN);
}

/**
 * Whether each message may go out shorter, asked in order of those that would: where the prompt up to its end could be
 * dearer in a later call, it goes out as it came. A function of the messages up to that one, so that every call and
 * process finds the same.
 * @param before tokens of the message at an index, as it came
 * @param free messages before this index are not held back
 */
export function cacheGate(
  price: CachePrice,
  before: (message: number) => number,
  free = 0,
): (message: number, saved: number) => boolean {
  let next = 0;
  let left = 0;
  let total = 0;
  return (message, saved) => {
    for (; next <= message; next += 1) left += before(next);
    const accepted = message < free || isNoDearer(price, total + saved, left - saved);
    if (!accepted) return false;
    total += saved;
    left -= saved;
    return true;
  };
}
