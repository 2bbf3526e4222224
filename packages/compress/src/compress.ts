import { TallyError } from '@tallystick/core';
import { type Account, accountFor, countMessages } from './account.ts';
import { type Block, blocksOf, type Draft, rewrite } from './blocks/blocks.ts';
import type { RememberedSelection } from './extract/selection.ts';
import { cutToBudget, extractive, type Strategy } from './extract/tier.ts';
import { freezeMap } from './freeze.ts';
import { dedupe } from './lossless/dedupe.ts';
import { encodeLossless } from './lossless/lossless.ts';
import type { ChatMessage } from './messages.ts';
import type { CompressOptions } from './options.ts';
import { type Tokenizer, tokenizerFor } from './tokens/tokenizer.ts';

export interface Compressed {
  readonly messages: ChatMessage[];
  readonly account: Account;
  /** Every block that was considered, in order, and what was done to it. `restore` undoes it. */
  readonly blocks: readonly Block[];
  /** Whether nothing new was cut because the request needs the whole text: a sum, a complete list, a translation. */
  readonly needed: boolean;
  /** Selections for `remembered` in later calls, those of uncut blocks included. Empty if nothing may be cut. */
  readonly selections: readonly RememberedSelection[];
}

const DEFAULT_SHARE = 0.5;

/**
 * Compresses a conversation. System and assistant turns, users' instructions, code (unless the caller allows it to be cut), diffs, schemas and everything before an
 * explicit cache breakpoint stay byte for byte, and no text becomes longer. The same arguments give the same result everywhere.
 * @throws invalid_field for an unknown tier or a budget that is out of range
 */
export function compress(messages: readonly ChatMessage[], options: CompressOptions = {}): Compressed {
  return compressBy(extractive, messages, options);
}

/** Compresses as `compress` does, but cuts by the given strategy, to compare other strategies with the package's own. */
export function compressBy(
  strategy: Strategy,
  messages: readonly ChatMessage[],
  options: CompressOptions,
): Compressed {
  const { tier = 'lossless', budget = DEFAULT_SHARE } = options;
  check(tier, budget);
  const tokenizer = options.tokenizer ?? tokenizerFor(options.model);
  const blocks = blocksOf(messages, freezeMap(messages), tokenizer, options);
  for (const block of blocks) writeCheapest(block, tokenizer);
  dedupe(messages, blocks, tokenizer);
  const before = countMessages(messages, tokenizer);
  const allowed = budget < 1 ? Math.floor(before * budget) : budget;
  const { selections, needed } =
    tier === 'lossless'
      ? { selections: [], needed: false }
      : cutToBudget({ messages, blocks, before, allowed, tokenizer }, options, strategy);
  return { ...accountFor({ messages, blocks, before, tokenizer }, options.accept), selections, needed };
}

function check(tier: string, budget: number): void {
  if (tier !== 'lossless' && tier !== 'extractive')
    throw new TallyError('invalid_field', 'tier is lossless or extractive.', { field: 'tier' });
  if (!(budget > 0 && budget < Number.POSITIVE_INFINITY)) {
    const message = 'budget is a number of tokens, or a share between 0 and 1.';
    throw new TallyError('invalid_field', message, { field: 'budget' });
  }
}

function writeCheapest(block: Draft, tokenizer: Tokenizer): void {
  const encoded = encodeLossless(block.kind, block.original, block.tokens_before, tokenizer);
  if (encoded !== undefined) rewrite(block, encoded.text, encoded.method, tokenizer.count(encoded.text));
}
