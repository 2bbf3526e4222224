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
  /**
   * How many of the completion tokens are not text of the answer: reasoning, speech, predictions that were not taken.
   * `unknown` where there was such output and the provider does not count it apart; absent where there was none.
   */
  readonly hidden?: number | 'unknown';
  /** Counted here because the provider did not say, or said what can't be true. */
  readonly estimated: boolean;
  /** Absent where the provider is believed. */
  readonly doubt?: Doubt;
}

/** Why the counts of a provider are not believed; see docs/compute.md. */
export type DoubtReason = 'malformed' | 'limit' | 'zero' | 'completion' | 'prompt';

interface Doubt {
  readonly why: DoubtReason;
  /** The provider's own counts, by which it will charge; null where it gave no usable ones. */
  readonly claimed: Usage | null;
}

/** What a provider says that it counted; null where it says nothing. */
export type Reported = Usage | 'malformed' | null;
