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

/** The messages of a prompt. */
interface GatedPrompt {
  /** Tokens of each message as it came. */
  readonly before: readonly number[];
  /** Of each message the index of the last one that no prompt has without it: its own, or that of a later one. */
  readonly until: readonly number[];
  /** Messages before this index are never held back; 0 when absent. */
  readonly free?: number;
}

/**
 * Decides which messages are sent shorter. Those that are only sent together are decided together: as much of them is
 * sent shorter as can be so that the prompt up to their end can cost no more in any later call; the others are sent as
 * they came. The result depends only on the messages up to that end, so every call and process decides the same.
 * @param savings tokens that each message would save, by its index, in order
 */
export function cacheGate(
  price: CachePrice,
  { before, until, free = 0 }: GatedPrompt,
  savings: ReadonlyMap<number, number>,
): ReadonlySet<number> {
  const accepted = new Set<number>();
  let next = 0;
  let came = 0;
  let saved = 0;
  for (const [end, group] of Map.groupBy(savings, ([message]) => until[message] ?? message)) {
    for (; next <= end; next += 1) came += before[next] ?? 0;
    const all = came;
    const pays = (total: number): boolean => isNoDearer(price, total, all - total);
    const take = ([message, tokens]: Gain): void => {
      accepted.add(message);
      saved += tokens;
    };
    for (const gain of group) if (gain[0] < free) take(gain);
    const others = group.filter(([message]) => message >= free).sort(([, one], [, other]) => other - one);
    const most = mostPaying(others, saved, pays);
    for (const [index, gain] of others.entries()) if (index < most || pays(saved + gain[1])) take(gain);
  }
  return accepted;
}

type Gain = readonly [message: number, saved: number];

/** How many of the gains pay together, counted from the first on. @param saved before them */
function mostPaying(gains: readonly Gain[], saved: number, pays: (total: number) => boolean): number {
  let total = saved;
  return gains.reduce((most, [, tokens], index) => {
    total += tokens;
    return pays(total) ? index + 1 : most;
  }, 0);
}
