import { type Draft, rewrite } from '../blocks/blocks.ts';
import { frozenKinds } from '../blocks/kind.ts';
import { type ChatMessage, type MessagePart, textsOf } from '../messages.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';

/** Shortest text, in UTF-16 units, that is worth a reference. */
const MIN_CHARACTERS = 200;

/**
 * Replaces texts that stand earlier in the conversation, byte for byte, by references to them. It depends only on the messages
 * up to the block, so that a later call gives the same bytes. `blocks` are those of texts that may be changed, in order.
 */
export function dedupe(
  messages: readonly ChatMessage[],
  blocks: readonly Draft[],
  tokenizer: Tokenizer,
): void {
  const seen = new Map<string, string>();
  const byText = Map.groupBy(blocks, keyOf);
  for (const [index, message] of messages.entries()) {
    for (const { place, text } of textsOf(message, index)) {
      if (text.length < MIN_CHARACTERS) continue;
      const earlier = seen.get(text);
      if (earlier === undefined) seen.set(text, nameOf(message, index));
      else replace(byText.get(keyOf(place)) ?? [], earlier, tokenizer);
    }
  }
}

const keyOf = ({ message, part }: MessagePart): string => `${message}/${part}`;

function nameOf({ role, tool_call_id: call }: ChatMessage, index: number): string {
  const named = role === 'tool' && typeof call === 'string' && /^[\w.:-]{1,64}$/.test(call);
  return named ? `the result of ${call}` : `message ${index + 1} (${role})`;
}

/** Replaces a whole text, unless some of it is of a kind that stays byte for byte. */
function replace(blocks: readonly Draft[], earlier: string, tokenizer: Tokenizer): void {
  const [first, ...rest] = blocks;
  if (first === undefined || blocks.some(({ kind }) => frozenKinds.has(kind))) return;
  const reference = `[the same as ${earlier} above]`;
  const tokens = tokenizer.count(reference);
  if (tokens >= blocks.reduce((sum, block) => sum + block.tokens_before, 0)) return;
  for (const block of rest) rewrite(block, '', 'dedupe', 0);
  rewrite(first, reference, 'dedupe', tokens);
}
