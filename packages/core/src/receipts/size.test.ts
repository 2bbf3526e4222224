import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nano } from './profiles/nano.ts';
import { standard } from './profiles/standard.ts';
import { assertSize, utf8Length } from './size.ts';

const encoded = (text: string): number => new TextEncoder().encode(text).length;

describe('utf8Length', () => {
  test('is what encoding would give, for any well-formed text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }).filter((t) => t.isWellFormed()),
    );
    fc.assert(
      fc.property(text, (t) => {
        expect(utf8Length(t)).toBe(encoded(t));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff])(
    'at U+%i',
    (codePoint) => {
      const text = `a${String.fromCodePoint(codePoint)}b`;
      expect(utf8Length(text)).toBe(encoded(text));
    },
  );
});

describe('assertSize', () => {
  const refused = (limit: number) =>
    expect.objectContaining({
      code: 'receipt_too_large',
      message: expect.stringContaining(String(limit)) as string,
    }) as Error;

  test.each([nano, standard])(
    '$name: its limit fits, one more does not, whatever the characters',
    (profile) => {
      const limit = profile.maxEmitted;
      for (const character of ['a', 'é', '☃', '𝄞']) {
        const bytes = encoded(character);
        const full = character
          .repeat(Math.floor(limit / bytes))
          .padEnd(character.length * Math.floor(limit / bytes) + (limit % bytes), '.');
        expect(encoded(full)).toBe(limit);
        expect(() => assertSize(profile, full)).not.toThrow();
        expect(() => assertSize(profile, `${full}.`)).toThrow(refused(limit));
      }
    },
  );

  test('what is reserved stays free', () => {
    expect(() => assertSize(standard, 'a'.repeat(2904), { reserve: 168 })).not.toThrow();
    expect(() => assertSize(standard, 'a'.repeat(2905), { reserve: 168 })).toThrow(refused(3072));
  });
});
