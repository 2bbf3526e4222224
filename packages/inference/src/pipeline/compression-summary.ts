import type { JsonObject } from '@tallystick/core';
import type { CompressionIncrement } from '@tallystick/ledger';
import { formatUsdc } from '@tallystick/ledger';
import type { Model } from '../catalogue/catalogue.ts';
import { countsAs } from '../compression/cache-price.ts';
import type { RequestTier } from '../compression/options.ts';
import { type Saving, savingOf } from '../savings.ts';
import { type Bill, tariffFor } from '../token-prices.ts';
import type { Usage } from '../types.ts';
import type { Compression } from './compressor-interface.ts';

/** What compression did to a call's prompt. */
export interface CompressionSummary {
  readonly tier: RequestTier;
  /** Null if there was nothing to compress. */
  readonly compression: Compression | null;
  readonly note: string | null;
}

/** `svc.compression` of a call for embeddings. */
export const NOT_COMPRESSED: JsonObject = {
  applied: false,
  reason: 'Compression does not apply to embeddings: a vector stands for the whole text.',
};

export const NOTHING_SAVED: Saving = { gross: 0n, lostCache: 0n, lostCacheTokens: 0 };

/** @param first the usage of the call that sent the prompt */
export function savingIn(
  { compression }: CompressionSummary,
  { price, tokenizer }: Pick<Model, 'price' | 'tokenizer'>,
  first: Usage,
): Saving {
  if (compression === null) return NOTHING_SAVED;
  return savingOf(
    tariffFor(price, first),
    first,
    compression.layout,
    countsAs(tokenizer, compression.tokenizer),
  );
}

/** The contents of `svc.compression`. If compression did not look at the prompt, the provider's count is used for both. */
export function compressionDocument(
  { tier, compression, note }: CompressionSummary,
  usage: Pick<Usage, 'promptTokens' | 'estimated'> | null,
  lostCacheTokens: number,
): JsonObject {
  const noted = note === null ? {} : { note };
  if (compression === null) {
    const tokens = usage?.promptTokens ?? null;
    return {
      tier,
      tokenizer: usage === null || usage.estimated ? 'o200k_base' : 'provider',
      estimate: usage?.estimated ?? true,
      tokens_before: tokens,
      tokens_after: tokens,
      methods: {},
      lost_cache_tokens: 0,
      removed: [],
      ...noted,
    };
  }
  const { tokenizer, estimate, tokensBefore, tokensAfter, methods, removed } = compression;
  return {
    tier,
    tokenizer,
    estimate,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    methods: { ...methods },
    lost_cache_tokens: lostCacheTokens,
    removed: removed.map(({ id, removed, of, unit, tokens }) => ({ id, removed, of, unit, tokens })),
    ...noted,
  };
}

/** Compression in a receipt's `call`; undefined if nothing was changed. */
export function compressionFacts(
  summary: CompressionSummary | null,
  bill: Bill,
): { tokens_before: number; tokens_after: number; saving: string } | undefined {
  const compression = changing(summary);
  if (compression === null) return undefined;
  const { tokensBefore, tokensAfter } = compression;
  return { tokens_before: tokensBefore, tokens_after: tokensAfter, saving: formatUsdc(bill.saving) };
}

/** The statistics of one chat call. @param promptTokens billed ones, used if compression did not look at the prompt */
export function savedBy(
  summary: CompressionSummary,
  promptTokens: number,
  lostCacheTokens: number,
): CompressionIncrement {
  const compression = changing(summary);
  if (compression === null) {
    const tokens = summary.compression?.tokensBefore ?? promptTokens;
    return { changed: false, tokensBefore: tokens, tokensAfter: tokens, lostCacheTokens: 0, methods: {} };
  }
  const { tokensBefore, tokensAfter, methods } = compression;
  return { changed: true, tokensBefore, tokensAfter, lostCacheTokens, methods };
}

function changing(summary: CompressionSummary | null): Compression | null {
  const compression = summary?.compression ?? null;
  return compression !== null && compression.tokensAfter < compression.tokensBefore ? compression : null;
}
