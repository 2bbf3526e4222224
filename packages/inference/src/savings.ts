import type { Dust } from '@tallystick/ledger';
import { CACHE_MINIMUM, CACHE_STEP, CERTAIN } from './compression/cache-gate.ts';
import { cachesInSteps } from './compression/cache-price.ts';
import type { Layout } from './pipeline/compressor-interface.ts';
import type { TokenPrices } from './token-prices.ts';
import type { Usage } from './types.ts';

/** What compression saved a caller, at the prices that the removed tokens would have had. */
export interface Saving {
  readonly gross: Dust;
  /** What it may have cost by losing the provider's cache. */
  readonly lostCache: Dust;
  readonly lostCacheTokens: number;
}

/**
 * The worth of what was taken out. A token that would have been read from the provider's cache is worth the price of
 * that and no more, one that would have been written to it the price of writing. Where in the prompt the provider's
 * counts lie is known to a message: one that may lie on either side has the lesser price, in the payer's favour.
 *
 * Since the bytes before the newest messages are those of the calls before, a cache that holds them is hit as it would
 * have been. Not so where it begins at a size that only the longer prompt has, or is read in steps, or where something
 * that was cut had to be given back: what that may have cost is `lostCache`. So cost, gross and lost together are never
 * more than the call would have cost uncompressed.
 * @param exact whether tokens were counted as the provider does; else fewer are taken for certain
 */
export function savingOf(price: TokenPrices, usage: Usage, layout: Layout, exact: boolean): Saving {
  const certain = exact ? 1 : CERTAIN;
  const cache = cachesInSteps(price)
    ? { step: CACHE_STEP, minimum: CACHE_MINIMUM, certain }
    : { step: 1, minimum: 0, certain };
  const known = { ...layout, sent: isAgain(usage, cache) ? layout.before.length : layout.sent };
  const at = positionsOf(usage, known, cache);
  const zones = zonesOf(price, usage);
  const worth = Math.min(cache.certain, worthOf(usage, layout));
  const unread = usage.cacheWriteTokens === undefined ? price.inputPerMTok : price.cacheWritePerMTok;
  let gross = 0n;
  for (const [index, before] of layout.before.entries()) {
    const after = layout.after[index] ?? before;
    if (after >= before) continue;
    const { start, end } = at[index] ?? { start: 0, end: 0 };
    gross += BigInt(Math.floor((before - after) * worth)) * cheapest(zones, start, end);
  }
  const dearer = unread - price.cacheReadPerMTok;
  const lostCacheTokens = gross > 0n && dearer > 0n ? lostTokens(usage, known, { ...cache, at }) : 0;
  return { gross, lostCache: BigInt(lostCacheTokens) * dearer, lostCacheTokens };
}

/** How a provider's cache works: from so many tokens on, in steps of so many. */
interface Cache {
  readonly step: number;
  readonly minimum: number;
  /** The share of the tokens counted here that the provider counts at least; 1 if both count alike. */
  readonly certain: number;
}

/** Whether the same prompt may have been sent before: the cache has all of it, or it is too short to be cached. */
function isAgain({ promptTokens, cachedTokens }: Usage, { step, minimum }: Cache): boolean {
  return cachedTokens === 0 ? promptTokens < minimum : promptTokens - cachedTokens < step;
}

/** If a provider's count is below this share of ours, it says nothing about how the provider counts. */
const LEAST_PLAUSIBLE = 0.5;

/** The provider's tokens per token counted here; the provider's are billed. */
function worthOf({ promptTokens }: Usage, { after }: Layout): number {
  const { scale } = fitTo(promptTokens, after);
  return scale < LEAST_PLAUSIBLE ? 1 : scale;
}

interface Span {
  /** In the provider's tokens: a lower bound of the message's start, and an upper bound of its end. */
  readonly start: number;
  readonly end: number;
}

/** The position of each message. Other tokens that the provider counts, such as tools, may be before or between them. */
function positionsOf({ promptTokens }: Usage, { after, sent }: Layout, { step, certain }: Cache): Span[] {
  const { scale, beside } = fitTo(promptTokens, after);
  let passed = 0;
  return after.map((tokens, index) => {
    const start = passed * scale;
    passed += tokens;
    // If tokens are uncertain, so is the end.
    const end = certain < 1 ? Number.POSITIVE_INFINITY : Math.ceil(passed * scale + beside);
    // New messages come after all earlier ones and the tools. An earlier message may be in a step of the cache that the
    // longer prompt fills and this one does not.
    const early = Math.max(0, start - step);
    return { start: index < sent ? early : Math.floor(start + beside), end };
  });
}

function fitTo(promptTokens: number, after: readonly number[]): { scale: number; beside: number } {
  const counted = sum(after);
  if (counted === 0) return { scale: 1, beside: promptTokens };
  return { scale: Math.min(1, promptTokens / counted), beside: Math.max(0, promptTokens - counted) };
}

interface Zone extends Span {
  readonly price: bigint;
}

/** The prices by position: first the tokens read from the cache, then those written to it. */
function zonesOf(price: TokenPrices, { cachedTokens: read, cacheWriteTokens = 0 }: Usage): Zone[] {
  const written = read + cacheWriteTokens;
  return [
    { start: 0, end: read, price: price.cacheReadPerMTok },
    { start: read, end: written, price: price.cacheWritePerMTok },
    { start: written, end: Number.POSITIVE_INFINITY, price: price.inputPerMTok },
  ].filter(({ start, end }) => end > start);
}

function cheapest(zones: readonly Zone[], start: number, end: number): bigint {
  const touched = zones.filter((zone) => zone.start < Math.max(end, start + 1) && zone.end > start);
  return touched.reduce((least, { price }) => (price < least ? price : least), touched[0]?.price ?? 0n);
}

function lostTokens(
  { promptTokens, cachedTokens }: Usage,
  { before, after, sent, changed }: Layout,
  { step, minimum, certain, at }: Cache & { readonly at: readonly Span[] },
): number {
  const { scale, beside } = fitTo(promptTokens, after);
  const cameWith = (messages: number): number => Math.ceil(sum(before.slice(0, messages)) * scale + beside);
  if (changed) return Math.max(0, cameWith(sent) - cachedTokens);
  if (sum(before.slice(0, sent)) === sum(after.slice(0, sent))) return 0;
  if (cachedTokens === 0) {
    // The longest beginning that may have been too short for the cache only because it was compressed.
    const short = totals(after.slice(0, sent)).filter((tokens) => tokens * scale * certain < minimum).length;
    const same = sum(before.slice(0, short)) === sum(after.slice(0, short));
    const came = Math.ceil(cameWith(short) / certain);
    return same || came < minimum ? 0 : came;
  }
  // The cached prompt ended less than a step after what was read of it: an earlier prompt ends there, if any does.
  const near = at.slice(0, sent).findLast(({ end }) => end >= cachedTokens && end < cachedTokens + 2 * step);
  return Math.min(step - 1, near === undefined ? step : near.end - cachedTokens);
}

/** The running sums, each including its own number. */
function totals(numbers: readonly number[]): number[] {
  let total = 0;
  return numbers.map((one) => {
    total += one;
    return total;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
