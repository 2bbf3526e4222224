import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyDocument, json, log, numberLexeme } from '../../test/documents.ts';
import { kindOfPlain } from '../blocks/kind.ts';
import { segmentsOf } from '../blocks/segments.ts';
import { minifyJson } from '../json/minify.ts';
import { parseTree, sameTree } from '../json/tree.ts';
import { tokenizerFor } from '../tokens/tokenizer.ts';
import { collapseLines, expandLines } from './lines.ts';
import { decodeLossless, encodeLossless } from './lossless.ts';
import { packedForms } from './packed.ts';
import { decodeToon } from './toon-decode.ts';
import { encodeToon } from './toon-encode.ts';
import { asTable, decodeTsv, encodeTsv } from './tsv.ts';

const tokenizer = tokenizerFor();

/** Every number as it is written, outside of strings. */
const numbersOf = (text: string): string[] =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];

function expectSameValue(decoded: string, original: string): void {
  expect(JSON.parse(decoded)).toEqual(JSON.parse(original));
  expect(numbersOf(decoded)).toEqual(numbersOf(original));
}

describe('each form is decoded to what it was made of', () => {
  test('minified JSON', () => {
    fc.assert(fc.property(json, (text) => expectSameValue(minifyJson(text), text)));
  });

  test('TOON', () => {
    fc.assert(
      fc.property(json, (text) => {
        const tree = parseTree(text)!;
        const decoded = decodeToon(encodeToon(tree));
        expect(decoded !== undefined && sameTree(tree, decoded)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });

  test('TSV', () => {
    fc.assert(
      fc.property(json, (text) => {
        const tree = parseTree(text)!;
        const table = asTable(tree);
        fc.pre(table !== undefined);
        const decoded = decodeTsv(encodeTsv(table));
        expect(decoded !== undefined && sameTree(tree, decoded)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('runs of lines', () => {
    const lines = fc.array(fc.constantFrom('a', '', 'b', '[×2 more]', ' a'), { maxLength: 12 });
    fc.assert(
      fc.property(lines, (all) => {
        const text = all.join('\n');
        const collapsed = collapseLines(text);
        expect(collapsed === undefined ? text : expandLines(collapsed)).toBe(text);
      }),
    );
    expect(collapseLines('x\nx\nx\nx')).toBe('x\n[×3 more]');
    expect(collapseLines('x\nx\nx\n[×3 more]')).toBeUndefined();
  });
});

test('of any document, what comes out is decoded to the same value, or it was passed through', () => {
  const found = new Set<string>();
  fc.assert(
    fc.property(fc.oneof(anyDocument, json, log), (text) => {
      for (const { kind, start, end } of segmentsOf(text)) {
        const original = text.slice(start, end);
        const encoded = encodeLossless(kind, original, tokenizer.count(original), tokenizer);
        if (encoded === undefined) continue;
        found.add(encoded.method);
        expect(tokenizer.count(encoded.text)).toBeLessThan(tokenizer.count(original));
        const decoded = decodeLossless(encoded)!;
        // JSON Lines as a list of their lines.
        const value = (all: string): string =>
          kind === 'jsonl' ? `[${all.trim().split('\n').join(',')}]` : all;
        const compared = encoded.method === 'line-runs' ? JSON.stringify : value;
        expectSameValue(compared(decoded), compared(original));
      }
    }),
    { numRuns: 3000 },
  );
  expect([...found].sort()).toEqual(
    expect.arrayContaining(['json-compact', 'json-toon', 'json-tsv', 'line-runs']),
  );
});

test('the lexeme of a number survives every form', () => {
  fc.assert(
    fc.property(fc.array(numberLexeme, { minLength: 3, maxLength: 8 }), (numbers) => {
      const original = `[\n${numbers.map((n) => `    {"id": ${n}, "name": "n"}`).join(',\n')}\n]`;
      const encoded = encodeLossless('json', original, tokenizer.count(original), tokenizer)!;
      expect(numbersOf(decodeLossless(encoded)!)).toEqual(numbers);
    }),
  );
});

test('of a short table the form with the fewest tokens is taken', () => {
  const titles = ['A Field Guide to Lichens', 'The Bridge Builders', 'Maps for the Curious'];
  const rows = Array.from({ length: 16 }, (_, i) => ({
    shelf: `K${4700 + 11 * i}`,
    title: titles[(i * i) % 3],
    year: 1900 + ((i * 37) % 120),
  }));
  const text = JSON.stringify({ page: 3, rows });
  const tree = parseTree(text)!;
  const chosen = encodeLossless('json', text, tokenizer.count(text), tokenizer)!;
  const forms = [encodeToon(tree), ...packedForms(tree, text)];
  expect(tokenizer.count(chosen.text)).toBe(Math.min(...forms.map((form) => tokenizer.count(form))));
});

test('JSON Lines that are alike become a table, and lines again', () => {
  const original = Array.from(
    { length: 5 },
    (_, i) => `{"ts": ${i}, "level": "info", "msg": "gate ${i} opened"}`,
  ).join('\n');
  const [segment] = segmentsOf(original);
  const encoded = encodeLossless(segment!.kind, original, tokenizer.count(original), tokenizer)!;
  expect(encoded.method).toBe('jsonl-tsv');
  expect(decodeLossless(encoded)).toBe(original.split('\n').map(minifyJson).join('\n'));
});

test('JSON that is nested too deeply to take apart is minified', () => {
  const deep = `${'[ '.repeat(10_000)}${' ]'.repeat(10_000)}`;
  const encoded = encodeLossless('json', deep, tokenizer.count(deep), tokenizer)!;
  expect(encoded.text).toBe('['.repeat(10_000) + ']'.repeat(10_000));
  expect(kindOfPlain(deep)).toBe('prose');
});
