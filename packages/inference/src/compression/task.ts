import type { JsonObject } from '@tallystick/core';
import type { CachePrice } from './cache-gate.ts';
import type { SentMessages } from './conversations.ts';

/** A conversation to compress. Everything in it can be sent to a thread. */
export interface CompressionTask {
  readonly messages: readonly JsonObject[];
  readonly tier: 'lossless' | 'extractive';
  /** Tokens, or a share below 1. */
  readonly budget: number | null;
  /** Whether what is cut can be given back by a tool; else only what stands elsewhere in its block is cut. */
  readonly retrieve: boolean;
  /** The encoding that counts, or a name that has none. */
  readonly encoding: string;
  /** What is asked of the conversation; null for what its last user message asks. */
  readonly query: string | null;
  /** Whose the counts are. */
  readonly account: string;
  /** What earlier calls bind this one to. */
  readonly form: SentMessages;
  /** At which price a provider's cache holds messages back; null where none does. */
  readonly cachePrice: CachePrice | null;
  /** Messages before this index went out in an earlier call. */
  readonly sent: number;
  /** What is remembered of the blocks of this conversation, by their ids. */
  readonly notes: ReadonlyMap<string, string>;
  /** Whether all of that holds, also for blocks that are new in this call. */
  readonly binding: boolean;
}

/** What was left out of a block. */
export interface Removed {
  readonly id: string;
  readonly removed: number;
  readonly of: number;
  readonly unit: string;
  readonly tokens: number;
  /** The block as it came, where the tool may give it back. */
  readonly original: string | null;
}

export interface CompressionResult {
  /** Index and message, of those that changed. */
  readonly changed: readonly (readonly [number, JsonObject])[];
  readonly tokenizer: string;
  readonly estimate: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly methods: Readonly<Record<string, number>>;
  readonly removed: readonly Removed[];
  /** Whether something was left as it came for the sake of the provider's cache. */
  readonly spared: boolean;
  /** Whether something that an earlier call sent cut is whole now. */
  readonly restored: boolean;
  /** Tokens of each message. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** What is to be remembered, with the value that may be overwritten. */
  readonly notes: readonly {
    readonly key: string;
    readonly value: string;
    readonly replaces: string | null;
  }[];
}
