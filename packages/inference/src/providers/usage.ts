import type { JsonObject, JsonValue } from '@tallystick/core';
import type { Reported, Usage } from '../types.ts';
import { asObject } from './members.ts';
import { serviceTierOf } from './service-tier.ts';

/** Exceeds every model's context; a provider that reports more is wrong. */
const maxTokens = 1_000_000_000;

/** A count of tokens; null if it is invalid. */
export function tokenCount(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maxTokens
    ? value
    : null;
}

/**
 * Reads `usage` of an OpenAI answer or chunk, and the class in which it was served; null if there is no usage. An embeddings answer has no completion
 * tokens.
 * @param unseen whether the model produced what the answer does not show and the provider does not count separately
 */
export function readUsage(answer: JsonObject | null, unseen = false): Reported {
  const usage = asObject(answer?.['usage']);
  if (usage === null) return null;
  if (usage['prompt_tokens'] === undefined && usage['completion_tokens'] === undefined) return null;
  const promptTokens = tokenCount(usage['prompt_tokens']);
  const details = asObject(usage['prompt_tokens_details']);
  const cachedTokens = tokenCount(details?.['cached_tokens'] ?? 0);
  const cacheWriteTokens = tokenCount(details?.['cache_write_tokens'] ?? 0);
  const longWriteTokens = tokenCount(details?.['cache_write_long_tokens'] ?? 0);
  const completion = readCompletion(usage, promptTokens);
  if (promptTokens === null || completion === null || cachedTokens === null) return 'malformed';
  if (cacheWriteTokens === null || cachedTokens + cacheWriteTokens > promptTokens) return 'malformed';
  if (longWriteTokens === null || longWriteTokens > cacheWriteTokens) return 'malformed';
  return {
    promptTokens,
    completionTokens: completion.tokens,
    cachedTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(longWriteTokens > 0 && { longWriteTokens }),
    ...serviceTierOf(answer ?? {}),
    ...(completion.hidden > 0 && { hidden: completion.hidden }),
    ...(unseen && completion.hidden === 0 && { hidden: 'unknown' }),
    estimated: false,
  };
}

/** The completion tokens, and those of them that are not text of the answer; null if they cannot be true. */
function readCompletion(
  usage: JsonObject,
  promptTokens: number | null,
): { tokens: number; hidden: number } | null {
  const tokens = tokenCount(usage['completion_tokens'] ?? 0);
  const details = asObject(usage['completion_tokens_details']);
  const reasoning = tokenCount(details?.['reasoning_tokens'] ?? 0);
  const speech = tokenCount(details?.['audio_tokens'] ?? 0);
  const rejected = tokenCount(details?.['rejected_prediction_tokens'] ?? 0);
  if (tokens === null || reasoning === null || speech === null || rejected === null) return null;
  // Some providers do not include reasoning in the completion tokens; only the total shows that.
  const beside = reasoning > 0 && usage['total_tokens'] === (promptTokens ?? 0) + tokens + reasoning;
  const all = beside ? tokens + reasoning : tokens;
  const hidden = reasoning + speech + rejected;
  return hidden > all ? null : { tokens: all, hidden };
}

/** The `usage` member of an OpenAI answer or chunk. */
export function formatUsage(usage: Usage): JsonObject {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, longWriteTokens, hidden } = usage;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: cachedTokens,
      ...(cacheWriteTokens !== undefined && { cache_write_tokens: cacheWriteTokens }),
      ...(longWriteTokens !== undefined && { cache_write_long_tokens: longWriteTokens }),
    },
    ...(typeof hidden === 'number' && { completion_tokens_details: { reasoning_tokens: hidden } }),
  };
}

/** Whether a chunk only carries usage: `choices` is empty and `usage` an object. */
export function isUsageChunk(chunk: JsonObject): boolean {
  const { choices, usage } = chunk;
  return Array.isArray(choices) && choices.length === 0 && asObject(usage) !== null;
}
