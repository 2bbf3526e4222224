import type { Selection } from './extract/selection.ts';
import type { Tokenizer } from './tokens/tokenizer.ts';

export type Tier = 'lossless' | 'extractive';

export interface CompressOptions {
  /** What may be done: only what can be undone (the default), or cutting. */
  readonly tier?: Tier;
  /** Question that the conversation is to answer; by default the last user message. */
  readonly query?: string;
  /** Most tokens that may remain, or below 1 their share; half when absent. Only cutting uses it. */
  readonly budget?: number;
  /** Whether code may be cut too, by whole functions; their names stay. Only cutting uses it. */
  readonly code?: boolean;
  /** Model whose tokens are counted. */
  readonly model?: string;
  /** Tokenizer whose counts outlive the call, for the same caller; used in place of `model`. */
  readonly tokenizer?: Tokenizer;
  /**
   * Returns what an earlier call of the same caller kept of the block with this id, which then gets the same bytes again. A
   * selection of another version, or one that does not give those bytes, is ignored. Called in order, with the index of the
   * message that holds the block; `whole` leaves the block uncut.
   */
  readonly remembered?: (id: string, message: number) => Selection | 'whole' | undefined;
  /** Whether only text that also stands elsewhere in its block may be cut anew: for callers that can't retrieve the rest. */
  readonly recoverable?: boolean;
  /** Whether a request that needs the whole text, such as a sum or a translation, is cut like any other. */
  readonly always?: boolean;
  /**
   * Returns the indexes of the messages that may become shorter; the others stay unchanged. Called once, with the tokens that
   * each message would save by its index, in order.
   */
  readonly accept?: (savings: ReadonlyMap<number, number>) => ReadonlySet<number>;
}
