import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyDocument } from '../test/documents.ts';
import { type Block, type ChatMessage, compress, restore, tokenizerFor } from './index.ts';
import { minifyJson } from './json/minify.ts';
import { parseTree, sameTree } from './json/tree.ts';
import { decodeLossless, type LosslessMethod } from './lossless/lossless.ts';

/** Documents that are generated: a hundred thousand where there is time for them. */
const DOCUMENTS = Number(process.env['TALLY_COMPRESS_DOCUMENTS'] ?? 3000);
const tokenizer = tokenizerFor();

/** What a block's text says, decoded from that text alone. */
function decoded({ text, steps }: Block): string {
  const method = steps.at(-1)?.method;
  if (method === undefined) return text;
  const found = decodeLossless({ method: method as LosslessMethod, text });
  expect(found).toBeDefined();
  return found ?? '';
}

/** The same JSON: members in their order, strings in value, numbers as they were written. */
function sameJson(a: string, b: string): boolean {
  const [one, other] = [parseTree(a.trim()), parseTree(b.trim())];
  return one === undefined || other === undefined
    ? minifyJson(a.trim()) === minifyJson(b.trim())
    : sameTree(one, other);
}

function same({ kind, original }: Block, text: string): boolean {
  if (text === original) return true;
  if (kind === 'json') return sameJson(original, text);
  if (kind !== 'jsonl') return false;
  const [lines, others] = [original.trim().split('\n'), text.split('\n')];
  return lines.length === others.length && lines.every((line, i) => sameJson(line, others[i] ?? ''));
}

test(`${DOCUMENTS} documents: what is decoded is what was there, in value and in numbers' lexemes`, () => {
  const methods = new Map<string, number>();
  fc.assert(
    fc.property(anyDocument, (document) => {
      const result = compress([{ role: 'tool', tool_call_id: 'call_1', content: document }], { tokenizer });
      expect(result.account.tokens_after).toBeLessThanOrEqual(result.account.tokens_before);
      expect(result.blocks.map(({ original }) => original).join('')).toBe(document);
      expect(result.messages[0]?.content).toBe(result.blocks.map(({ text }) => text).join(''));
      for (const block of result.blocks) {
        if (!same(block, decoded(block)))
          throw new Error(`${block.kind}: ${block.original}\n=> ${block.text}`);
        const method = block.steps.at(-1)?.method ?? 'as it was';
        methods.set(method, (methods.get(method) ?? 0) + 1);
      }
      expect(restore(result)[0]?.content).toHaveLength(
        result.blocks.reduce((sum, block) => sum + decoded(block).length, 0),
      );
    }),
    { numRuns: DOCUMENTS },
  );
  const used = ['json-compact', 'json-tsv', 'json-toon', 'json-packed', 'line-runs', 'as it was'];
  for (const method of used) expect(methods.get(method), method).toBeGreaterThan(DOCUMENTS / 1000);
}, 3_600_000);

/** A name that was written with an escape that it does not need is restored without it. */
const unescaped = (messages: readonly ChatMessage[]): unknown =>
  JSON.parse(
    JSON.stringify(messages)
      .replaceAll(String.raw`\\u0069`, 'i')
      .replaceAll(String.raw`\\u00e9`, 'é')
      .replaceAll(String.raw`\\ud83d\\ude00`, '😀')
      .replaceAll(String.raw`\\/`, '/'),
  );

test('what was compressed once stays as it is', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const first = compress([{ role: 'tool', content: document }], { tokenizer }).messages;
      const second = compress(first, { tokenizer });
      expect(unescaped(restore(second))).toStrictEqual(unescaped(first));
      expect(second.account.tokens_after).toBeLessThanOrEqual(second.account.tokens_before);
    }),
    { numRuns: Math.min(DOCUMENTS, 1000) },
  );
}, 600_000);
