import type { JsonObject } from '@tallystick/core';

/**
 * An OpenAI chat completion request as it goes to a provider: without the members that are the router's own
 * (`svc`, `provider`, `cost_quality`); `model` is the provider's own name.
 */
export type ChatBody = JsonObject;

/** Tokens of a call. Cached tokens are among the prompt tokens. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  /** Of the prompt tokens, those that the provider wrote to its cache and prices apart. Absent: none. */
  readonly cacheWriteTokens?: number;
  /** Counted here because the provider did not say. */
  readonly estimated: boolean;
}
