import type { Selection } from './extract/selection.ts';
import type { Tokenizer } from './tokens/tokenizer.ts';

export type Tier = 'lossless' | 'extractive';

export interface CompressOptions {
  /** What may be done: nothing that can't be undone (the default), or cutting. */
  readonly tier?: Tier;
  /** Question for which the conversation is read; by default the last user message. */
  readonly query?: string;
  /** Tokens that may be left, or below 1 the share of them; half where none is given. Only cutting looks at it. */
  readonly budget?: number;
  /** Model whose tokens are counted. */
  readonly model?: string;
  /** Counts that outlive the call, for the same caller; takes the place of `model`. */
  readonly tokenizer?: Tokenizer;
  /**
   * What an earlier call of the same caller kept of the block with this id: it gets the same bytes again. A selection
   * of another version, or that does not give those bytes, counts as none. Asked in order, with the index of the
   * message that the block stands in; `whole` leaves it uncut.
   */
  readonly remembered?: (id: string, message: number) => Selection | 'whole' | undefined;
  /** Whether only what stands elsewhere in the same block may be cut: for callers that can't be given back the rest. */
  readonly recoverable?: boolean;
  /**
   * Whether the message at this index may go out shorter by so many tokens; where not, it goes out as it came. Asked in
   * order, of each that would.
   */
  readonly accept?: (message: number, saved: number) => boolean;
}
