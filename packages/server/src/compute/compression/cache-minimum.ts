/** A provider that caches by itself does so from this many tokens on. */
export const CACHE_MINIMUM = 1_024;
/** And reads from its cache in steps of so many. */
export const CACHE_STEP = 128;

/**
 * The first message from which on a prompt may come out shorter: before it the prompt would be too short for the
 * provider's cache, which is worth more, so all before it goes out as it came. A function of the messages up to that
 * one, so that the next call finds the same.
 * @param before tokens of each message as it came, `after` in its shorter form
 * @param worth see `cacheWorth`
 */
export function firstWorthwhile(before: readonly number[], after: readonly number[], worth: number): number {
  if (worth === 0) return 0;
  let sent = 0;
  for (const [index, tokens] of before.entries()) {
    const short = after[index] ?? tokens;
    if (tokens - short >= CACHE_STEP && (sent + short >= CACHE_MINIMUM || tokens - short >= worth))
      return index;
    sent += tokens;
  }
  return before.length;
}
