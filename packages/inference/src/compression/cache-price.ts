import type { Catalogue, Model } from '../catalogue/catalogue.ts';
import { AUTO } from '../router/auto.ts';
import type { TokenPrices } from '../token-prices.ts';
import type { ChatBody } from '../types.ts';
import type { CachePrice } from './cache-gate.ts';

/** The chat models that may serve a request. */
export function modelsMeant(catalogue: Catalogue, { model }: ChatBody): readonly Model[] {
  const named = typeof model === 'string' && model !== AUTO ? catalogue.find(model) : null;
  return named === null ? catalogue.models.filter(({ kind }) => kind === 'chat') : [named];
}

/**
 * Whether a provider caches automatically, at a discount and in steps. A provider with a price for cache writes caches
 * only up to explicit breakpoints, before which nothing is changed.
 */
export function cachesInSteps({ inputPerMTok, cacheReadPerMTok, cacheWritePerMTok }: TokenPrices): boolean {
  return cacheReadPerMTok < inputPerMTok && cacheWritePerMTok === inputPerMTok;
}

/** Whether an encoding counts tokens as a model's provider does. */
export function countsAs(tokenizer: Model['tokenizer'], encoding: string): boolean {
  return `${tokenizer}_base` === encoding;
}

/**
 * The price at which a cache is worth the most, of all models that may serve the request; null where none caches in
 * steps.
 * @param encoding that counts the tokens
 */
export function cachePriceOf(
  models: readonly Pick<Model, 'price' | 'tokenizer'>[],
  encoding: string,
): CachePrice | null {
  const caching = models.filter(({ price }) => cachesInSteps(price));
  const [first, ...others] = caching.map(({ price }) => price);
  if (first === undefined) return null;
  const { inputPerMTok, cacheReadPerMTok } = others.reduce(
    (least, price) =>
      price.cacheReadPerMTok * least.inputPerMTok < least.cacheReadPerMTok * price.inputPerMTok
        ? price
        : least,
    first,
  );
  const exact = caching.every(({ tokenizer }) => countsAs(tokenizer, encoding));
  return { inputPerMTok, cacheReadPerMTok, exact };
}
