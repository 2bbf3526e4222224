import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Usage } from '../types.ts';
import { asObject } from './members.ts';

/** More than any model's context; a provider that reports more is in error. */
const maxTokens = 1_000_000_000;

/** A count of tokens; null where it is none. */
export function tokenCount(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maxTokens
    ? value
    : null;
}

/**
 * The `usage` member of an OpenAI answer or chunk. Null where there is none, or where it can't be true: the caller
 * then counts for itself. An embeddings answer has no completion tokens.
 */
export function readUsage(value: JsonValue | undefined): Usage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const promptTokens = tokenCount(usage['prompt_tokens']);
  const completionTokens = tokenCount(usage['completion_tokens'] ?? 0);
  const details = asObject(usage['prompt_tokens_details']);
  const cachedTokens = tokenCount(details?.['cached_tokens'] ?? 0);
  const cacheWriteTokens = tokenCount(details?.['cache_write_tokens'] ?? 0);
  if (promptTokens === null || completionTokens === null || cachedTokens === null) return null;
  if (cacheWriteTokens === null || cachedTokens + cacheWriteTokens > promptTokens) return null;
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    estimated: false,
  };
}

/** The `usage` member of an OpenAI answer or chunk. */
export function formatUsage(usage: Usage): JsonObject {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens } = usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: cachedTokens,
      ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
    },
  };
}

/** Whether a chunk is there for its usage only: `choices` is empty and `usage` an object. */
export function isUsageChunk(chunk: JsonObject): boolean {
  const { choices, usage } = chunk;
  return Array.isArray(choices) && choices.length === 0 && asObject(usage) !== null;
}
