import type { TokenPrices } from '../token-prices.ts';

/** Tokens from which a provider with an automatic cache starts to cache. */
export const CACHE_MINIMUM = 1_024;
/** The automatic cache is read in steps of this many tokens, or of a divisor of it. */
export const CACHE_STEP = 128;

/** The prices that apply to reading an automatic cache. */
export interface CachePrice extends Pick<TokenPrices, 'inputPerMTok' | 'cacheReadPerMTok'> {
  /** Whether tokens are counted as the provider does. */
  readonly exact: boolean;
}

/** Share of the counted tokens that is certain when another encoding than the provider's counts them. */
export const CERTAIN = 0.75;

/**
 * Whether every later call may begin with this prompt, which has `left` tokens, `saved` fewer than it came with.
 * Reading the longer prompt from the cache must not be worth more than what was saved. Of the longer prompt the cache
 * holds at most as many more tokens as the steps that `saved` reaches into; and where it holds nothing of the shorter
 * prompt, because that is too short, at most the steps below the minimum besides. Where within a step the prompt ends
 * is unknown, and changes from call to call, so the worst case is taken.
 */
export function isNoDearer(price: CachePrice, saved: number, left: number): boolean {
  const { inputPerMTok: input, cacheReadPerMTok: read, exact } = price;
  if (saved === 0 || read >= input) return true;
  const certain = exact ? saved : Math.floor(saved * CERTAIN);
  const steps = exact ? Math.ceil(saved / CACHE_STEP) * CACHE_STEP : certain + CACHE_STEP - 1;
  const unread = left >= leastLeft(price) ? 0 : CACHE_MINIMUM - CACHE_STEP;
  return BigInt(steps + unread) * (input - read) <= BigInt(certain) * input;
}

/** Tokens of a prompt above which even a small saving pays. */
export function leastLeft({ exact }: CachePrice): number {
  return exact ? CACHE_MINIMUM : Math.ceil(CACHE_MINIMUM / CERTAIN);
}

/**
 * Decides for each message whether it may be sent shorter, in the order of those that would be: if the prompt up to its
 * end could cost more in a later call, the message is sent as it came. The result depends only on the messages up to
 * that one, so every call and process decides the same.
 * @param before tokens of the message at an index, as it came
 * @param free messages before this index are never held back
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
