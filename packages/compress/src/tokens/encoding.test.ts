import * as fc from 'fast-check';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { anyDocument } from '../../test/documents.ts';
import { tokenizerFor } from './tokenizer.ts';

const asText = { disallowedSpecial: new Set<string>() };
const pieces = [
  'a',
  'Z',
  'é',
  '日',
  '本語',
  '😀',
  '\u200d',
  '👩',
  '\ud800',
  '\udc00',
  '1',
  '23',
  '4567',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\t',
  "'s",
  "'LL",
  "'",
  '/',
  '//',
  '.',
  '...',
  '{',
  '"',
  ':',
  '\u00a0',
  '\u2028',
  'ש',
  '\u0301',
  'the',
  'Hello',
  'WORLD',
  "don't",
  '<|endoftext|>',
  '_',
  '--',
  '٣',
  '\f',
  '\0',
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 16 }).map((all) => all.join(''));
/** Words past the length where merging works with a heap. */
const longWord = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'Q', 'é', '日', '-'), { minLength: 150, maxLength: 400 })
  .map((all) => all.join(''));
// gpt-tokenizer drops a byte order mark from the bytes that it compares, and so counts it differently than tiktoken.
const noMark = (value: string): boolean => !value.includes('\ufeff');

describe.each([
  { name: 'o200k_base', reference: o200k },
  { name: 'cl100k_base', reference: cl100k },
])('$name', ({ name, reference }) => {
  const tokenizer = tokenizerFor(name);

  test('counts what gpt-tokenizer encodes', () => {
    const any = fc
      .oneof(text, longWord, fc.string({ unit: 'binary', maxLength: 60 }), anyDocument)
      .filter(noMark);
    fc.assert(
      fc.property(any, (value) => {
        expect(tokenizer.count(value)).toBe(reference(value, asText));
      }),
      { numRuns: 3000 },
    );
  });

  test('spans add up to the whole', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), (value, cuts) => {
        const ends = [...cuts.map((cut) => Math.min(cut, value.length)).sort((a, b) => a - b), value.length];
        const sum = tokenizer.countSpans(value, ends).reduce((a, b) => a + b, 0);
        expect(sum).toBe(reference(value, asText));
      }),
    );
  });

  test('a megabyte without a blank is counted, and in the same way as its parts', () => {
    expect(tokenizer.count('a'.repeat(1_000_000))).toBe(tokenizer.count('a'.repeat(100_000)) * 10);
  });
});

describe('the tokenizer of a model', () => {
  test.each([
    ['gpt-4o-mini', 'o200k_base'],
    ['openai/gpt-4.1', 'o200k_base'],
    ['gpt-5.2', 'o200k_base'],
    ['o3-mini', 'o200k_base'],
    ['gpt-4-0613', 'cl100k_base'],
    ['gpt-3.5-turbo', 'cl100k_base'],
    [undefined, 'o200k_base'],
    ['claude-sonnet-4-5', 'o200k_base (estimate)'],
    ['local/extract-1', 'o200k_base (estimate)'],
  ])('%s: %s', (model, name) => {
    const tokenizer = tokenizerFor(model);
    expect(tokenizer.name).toBe(name);
    expect(tokenizer.estimate).toBe(name.endsWith('(estimate)'));
  });
});
