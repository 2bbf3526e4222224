import type { JsonObject } from '@tallystick/core';

/**
 * An OpenAI chat completion request as it goes to a provider: without the members that are the router's own
 * (`svc`, `provider`, `cost_quality`); `model` is the provider's own name.
 */
export type ChatBody = JsonObject;

/** Classes of service whose prices differ from the standard ones. A call names one as `service_tier`. */
export const SERVICE_TIERS = ['batch', 'flex', 'priority'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** Tokens of a call. Cached tokens are among the prompt tokens. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  /** Prompt tokens that the provider wrote to its cache and prices separately. Absent: none. */
  readonly cacheWriteTokens?: number;
  /** Those of them that the cache keeps for an hour or longer. Absent: none. */
  readonly longWriteTokens?: number;
  /** The class of service in which the provider served the call, if its prices may differ. Absent: the standard one. */
  readonly serviceTier?: ServiceTier;
  /**
   * Completion tokens that are not text of the answer: reasoning, speech, rejected predictions. `unknown` if there was
   * such output and the provider does not count it separately; absent if there was none.
   */
  readonly hidden?: number | 'unknown';
  /** Counted here because the provider gave no count, or an impossible one. */
  readonly estimated: boolean;
  /** Absent if the provider is believed. */
  readonly doubt?: Doubt;
}

/** Why the counts of a provider are not believed; see docs/compute.md. */
export type DoubtReason = 'malformed' | 'limit' | 'zero' | 'completion' | 'prompt';

interface Doubt {
  readonly why: DoubtReason;
  /** The provider's own counts, by which it will charge; null if it gave no usable ones. */
  readonly claimed: Usage | null;
}

/** The counts that a provider reports; null if it reports none. */
export type Reported = Usage | 'malformed' | null;
