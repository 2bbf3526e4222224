import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signerOf } from '../../test/sample-receipts.ts';
import { TallyError } from '../errors.ts';
import { parseWitnessKey, witnessKey } from './cosignature.ts';
import { formatNote, formatSignature, parseNote } from './note.ts';
import { parseVerifierKey, verifierKey } from './verifier-key.ts';

const invalid = expect.objectContaining({ code: 'note_invalid' }) as unknown;
const { publicKey } = await signerOf(1);

/** The example of C2SP signed-note, whose text holds an empty line. */
const example = `Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=
`;

const line = fc.string({ unit: 'grapheme' }).filter((text) => !/\p{Cc}/u.test(text));
const signature = fc.record({
  name: fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((name) => !/[\p{White_Space}\p{Cc}+]/u.test(name)),
  keyHash: fc.nat(0xffff_ffff),
  signature: fc.uint8Array({ minLength: 1, maxLength: 80 }),
});
const note = fc.record({
  text: fc.array(line).map((lines) => `${lines.join('\n')}\n`),
  signatures: fc.array(signature, { minLength: 1, maxLength: 16 }),
});

/** What the note that is read would be written as, or the code of its refusal. */
function rewritten(text: string): string {
  try {
    return formatNote(parseNote(text));
  } catch (error) {
    if (error instanceof TallyError) return error.code;
    throw error;
  }
}

describe('notes', () => {
  test('the example of the specification', () => {
    const { text, signatures } = parseNote(example);
    expect(text.endsWith('\n\ned è subito sera.\n')).toBe(true);
    expect(signatures).toMatchObject([{ name: 'quasimodo.example/salvatore', keyHash: 0x367ba04b }]);
    expect(formatNote({ text, signatures })).toBe(example);
  });

  test('reading is the inverse of writing', () => {
    fc.assert(
      fc.property(note, (one) => {
        expect(parseNote(formatNote(one))).toEqual(one);
      }),
    );
  });

  test('what is read is what would be written', () => {
    const changed = fc.tuple(fc.nat(example.length), fc.constantFrom('', '\n', ' ', '=', 'A', '—', '\t'));
    fc.assert(
      fc.property(changed, ([at, put]) => {
        const text = example.slice(0, at) + put + example.slice(at + 1);
        const again = rewritten(text);
        expect(again === text || again === 'note_invalid').toBe(true);
      }),
    );
  });

  test('of more than 131,072 characters are refused', () => {
    const padded = (length: number): string => `${'x'.repeat(length - example.length)}${example}`;
    expect(parseNote(padded(131_072)).signatures).toHaveLength(1);
    expect(() => parseNote(padded(131_073))).toThrow(invalid);
  });

  test.each([
    ['a text without a newline', 'text', [{ name: 'a', keyHash: 1, signature: new Uint8Array(1) }]],
    [
      'a text that ends in a paragraph',
      'one\n\ntwo',
      [{ name: 'a', keyHash: 1, signature: new Uint8Array(1) }],
    ],
    ['no signature', 'text\n', []],
    ['a name with a space', 'text\n', [{ name: 'a b', keyHash: 1, signature: new Uint8Array(1) }]],
    ['an empty signature', 'text\n', [{ name: 'a', keyHash: 1, signature: new Uint8Array(0) }]],
  ])('%s makes none', (_what, text, signatures) => {
    expect(() => formatNote({ text, signatures })).toThrow(invalid);
  });

  test('a key id keeps its leading zeros', () => {
    expect(formatSignature({ name: 'a', keyHash: 1, signature: Uint8Array.of(255) })).toBe('— a AAAAAf8=\n');
  });
});

describe.each([
  ['verifier keys', verifierKey, parseVerifierKey, 'AY', 'BY'],
  ['keys of witnesses', witnessKey, parseWitnessKey, 'BI', 'AI'],
])('%s', (_of, write, read, type, otherType) => {
  const text = write('example.com/log', publicKey);

  test('say the name, the key id and the key', () => {
    expect(text).toMatch(new RegExp(`^example\\.com/log\\+[0-9a-f]{8}\\+${type}`));
    expect(read(text)).toEqual({ name: 'example.com/log', publicKey });
  });

  test.each([
    ['another name', text.replace('log', 'dog')],
    ['another key id', text.replace(/\+[0-9a-f]{8}\+/, '+00000000+')],
    ['another signature type', text.replace(`+${type}`, `+${otherType}`)],
    ['a key cut short', text.slice(0, -4)],
    ['a newline', `${text}\n`],
    ['no name', text.slice('example.com/log'.length)],
  ])('%s is refused', (_what, changed) => {
    expect(changed).not.toBe(text);
    expect(() => read(changed)).toThrow(invalid);
  });
});

describe('verifier keys', () => {
  test('a name that no key may have is refused', () => {
    expect(() => verifierKey('a b', publicKey)).toThrow(invalid);
    expect(() => verifierKey('a', new Uint8Array(32))).toThrow(
      expect.objectContaining({ code: 'invalid_public_key' }),
    );
  });
});
