import type { Gap } from '@tallystick/compress';
import type { JsonObject } from '@tallystick/core';
import type { CachePrice } from './cache-gate.ts';
import type { SentMessages } from './conversations.ts';

/** A conversation to compress. All of it can be sent to a thread. */
export interface CompressionTask {
  readonly messages: readonly JsonObject[];
  readonly tier: 'lossless' | 'extractive';
  /** Tokens, or a share below 1. */
  readonly budget: number | null;
  /** Whether the tool can return what is cut. */
  readonly retrieve: boolean;
  /** Whether text may be cut that nothing can return. If it may not, only text repeated elsewhere in its block is cut. */
  readonly forGood: boolean;
  /** Whether code may be cut, by whole functions. */
  readonly code: boolean;
  /** Whether the prompt must fit into a context, so that it is cut even if the request needs all of it. */
  readonly mustFit: boolean;
  /** The encoding that counts tokens, or the name of one that is not public. */
  readonly encoding: string;
  /** Account whose token counts are cached. */
  readonly account: string;
  /** The form that earlier calls have fixed. */
  readonly form: SentMessages;
  /** The cache price that holds messages back; null where no provider's cache does. */
  readonly cachePrice: CachePrice | null;
  /** Messages before this index were sent in an earlier call. */
  readonly sent: number;
  /** The notes about the blocks of this conversation, by block id. */
  readonly notes: ReadonlyMap<string, string>;
  /** Whether the notes also fix the blocks that are new in this call. */
  readonly binding: boolean;
}

/** What was cut from a block. */
export interface Removed {
  readonly id: string;
  readonly removed: number;
  readonly of: number;
  readonly unit: string;
  readonly tokens: number;
  /** What the tool may return, with the mark that stands in the place of each gap; null where there is no tool. */
  readonly cut: { readonly mark: string; readonly gaps: readonly Gap[] } | null;
}

export interface CompressionResult {
  /** Index and message of each changed message. */
  readonly changed: readonly (readonly [number, JsonObject])[];
  readonly tokenizer: string;
  readonly estimate: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly methods: Readonly<Record<string, number>>;
  readonly removed: readonly Removed[];
  /** Whether something was kept as it came because of the provider's cache. */
  readonly spared: boolean;
  /** Whether nothing new was cut because the request needs the whole text. */
  readonly needed: boolean;
  /** Whether something is missing that the model cannot ask for. */
  readonly missing: boolean;
  /** Whether something that an earlier call sent cut is sent whole now. */
  readonly restored: boolean;
  /** Tokens of each message. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** The notes to store, with the value that may be overwritten. */
  readonly notes: readonly {
    readonly key: string;
    readonly value: string;
    readonly replaces: string | null;
  }[];
}
