import type { Compressed, Tokenizer } from '@tallystick/compress';
import type { JsonObject } from '@tallystick/core';
import { asObject, asText, objectsOf } from '../providers/members.ts';
import { contentsOf } from './messages.ts';
import type { CompressionResult, CompressionTask } from './task.ts';

/** The result for a conversation that was compressed: only what changed. */
export function resultOf(
  { messages, retrieve, form: { plain } }: CompressionTask,
  { messages: out, account, blocks }: Compressed,
  tokenizer: Tokenizer,
  facts: Pick<CompressionResult, 'notes' | 'spared' | 'needed' | 'restored'>,
): CompressionResult {
  const changed: [number, JsonObject][] = [];
  const before: number[] = [];
  const after: number[] = [];
  for (const [index, message] of messages.entries()) {
    const sent = out[index] as JsonObject;
    const texts = tokensOf(message, tokenizer);
    const touched = index >= plain && sent !== message;
    if (touched) changed.push([index, sent]);
    before.push(texts);
    after.push(touched ? tokensOf(sent, tokenizer) : texts);
  }
  return {
    changed,
    tokenizer: account.tokenizer,
    estimate: account.estimate,
    tokensBefore: account.tokens_before,
    tokensAfter: account.tokens_after,
    methods: account.methods,
    removed: blocks.flatMap(({ removed }) =>
      removed === null
        ? []
        : [
            {
              id: removed.id,
              removed: removed.removed,
              of: removed.of,
              unit: removed.unit,
              tokens: removed.tokens,
              cut: retrieve ? { mark: removed.mark, gaps: removed.gaps } : null,
            },
          ],
    ),
    missing: !retrieve && blocks.some(({ removed }) => removed?.selection.recoverable === false),
    before,
    after,
    ...facts,
  };
}

/** Tokens of all texts in a message. */
export function tokensOf(message: JsonObject, tokenizer: Tokenizer): number {
  return textsOf(message).reduce((sum, text) => sum + tokenizer.count(text), 0);
}

function textsOf({ content, tool_calls: calls }: JsonObject): string[] {
  const called = objectsOf(calls).flatMap((call) => {
    const { name, arguments: given } = asObject(call['function']) ?? {};
    return [asText(name) ?? '', asText(given) ?? ''];
  });
  return [...contentsOf(content), ...called];
}
