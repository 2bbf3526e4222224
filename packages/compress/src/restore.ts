import type { Block } from './blocks/blocks.ts';
import type { Compressed } from './compress.ts';
import { decodeLossless, type LosslessMethod } from './lossless/lossless.ts';
import { type ChatMessage, withTexts } from './messages.ts';

/**
 * Restores the original conversation from the result of `compress`: lossless forms are decoded from the text that was
 * sent; text that was cut or replaced by a reference comes from the records of the blocks.
 */
export function restore({ messages, blocks }: Pick<Compressed, 'messages' | 'blocks'>): ChatMessage[] {
  const restored = [...messages];
  for (const [index, own] of Map.groupBy(blocks, ({ message }) => message)) {
    const message = messages[index];
    if (message === undefined) continue;
    const texts = new Map<number | null, string>();
    for (const [part, pieces] of Map.groupBy(own, ({ part }) => part)) {
      if (pieces.some(({ steps }) => steps.length > 0)) texts.set(part, pieces.map(originalOf).join(''));
    }
    if (texts.size > 0) restored[index] = withTexts(message, texts);
  }
  return restored;
}

const lossless: ReadonlySet<string> = new Set([
  'json-compact',
  'json-tsv',
  'json-toon',
  'json-packed',
  'jsonl-tsv',
  'jsonl-packed',
  'line-runs',
]);

function originalOf({ steps, text, original }: Block): string {
  const method = steps.at(-1)?.method;
  if (method === undefined || !lossless.has(method)) return original;
  return decodeLossless({ method: method as LosslessMethod, text }) ?? original;
}
