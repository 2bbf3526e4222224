import { expect, test } from 'vitest';
import { parseTiktoken } from './tiktoken.ts';
import { tokenTable as ofFile } from './token-tables.node.ts';
import { tokenTable as ofModule } from './token-tables.ts';
import { Vocabulary } from './vocabulary.ts';

test.each(['o200k_base', 'cl100k_base'] as const)('%s is the same in Node and in browsers', (name) => {
  const file = ofFile(name);
  const module = ofModule(name);
  expect(file.starts).toHaveLength(module.starts.length);
  expect(Buffer.compare(Buffer.from(file.starts.buffer), Buffer.from(module.starts.buffer))).toBe(0);
  expect(Buffer.compare(file.bytes, module.bytes)).toBe(0);
});

const file = (text: string): Uint8Array => new TextEncoder().encode(text);

test('a vocabulary is read by its lines', () => {
  const table = parseTiktoken(file('IQ== 0\nYWI= 1\nYWJj 2\n/+8= 3'));
  const tokens = ['!', 'ab', 'abc'].map(file).concat(Uint8Array.of(0xff, 0xef));
  const vocabulary = new Vocabulary(table);
  expect(tokens.map((token) => vocabulary.rank(token, 0, token.length))).toEqual([0, 1, 2, 3]);
  expect(vocabulary.rank(file('a'), 0, 1)).toBe(-1);
});

test('a vocabulary whose ranks have a gap is refused', () => {
  expect(() => parseTiktoken(file('IQ== 0\nYWI= 2\n'))).toThrow('Line 2 has the rank 2.');
});
