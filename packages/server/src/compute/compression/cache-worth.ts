import type { Catalogue, Model } from '../catalogue/catalogue.ts';
import { AUTO } from '../router/decide.ts';
import type { ChatBody } from '../types.ts';
import { CACHE_MINIMUM } from './cache-minimum.ts';

/** The chat models that may serve a request. */
export function modelsMeant(catalogue: Catalogue, { model }: ChatBody): readonly Model[] {
  const named = typeof model === 'string' && model !== AUTO ? catalogue.find(model) : null;
  return named === null ? catalogue.models.filter(({ kind }) => kind === 'chat') : [named];
}

/**
 * How many tokens a prompt of less than `CACHE_MINIMUM` has to be shorter to cost no more than a longer one whose
 * prefix is read from the provider's cache in every call: 0 where reading costs as much as sending. A provider whose
 * writing has a price of its own caches only behind an explicit breakpoint, before which nothing is changed.
 */
export function cacheWorth(models: readonly Pick<Model, 'price'>[]): number {
  return models.reduce((most, { price }) => {
    const { inputPerMTok: input, cacheReadPerMTok: read, cacheWritePerMTok: write } = price;
    if (read >= input || write !== input) return most;
    const worth =
      read === 0n ? Number.MAX_SAFE_INTEGER : Number((input * BigInt(CACHE_MINIMUM)) / read) - CACHE_MINIMUM;
    return Math.max(most, worth);
  }, 0);
}
