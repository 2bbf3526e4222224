import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { differences, type Part } from './diff.ts';

const words = fc.array(fc.constantFrom('one ', 'two ', 'three\n', 'four. ', '  '), { maxLength: 40 });
const side = (parts: readonly Part[], other: 'old' | 'new'): string =>
  parts
    .filter((part) => part.in !== other)
    .map(({ text }) => text)
    .join('');

test('its parts make up both texts', () => {
  fc.assert(
    fc.property(words, words, (old, now) => {
      const parts = differences(old.join(''), now.join('')) ?? [];
      expect([side(parts, 'new'), side(parts, 'old')]).toEqual([old.join(''), now.join('')]);
    }),
  );
});

test('what was only cut is marked as cut, and nothing else', () => {
  fc.assert(
    fc.property(words, fc.infiniteStream(fc.boolean()), (old, kept) => {
      const all = old.map((word, place) => `${place}${word}`);
      const left = all.filter(() => kept.next().value);
      const parts = differences(all.join(''), left.join('')) ?? [];
      expect(parts.filter((part) => part.in === 'new')).toEqual([]);
      expect(side(parts, 'new')).toBe(all.join(''));
    }),
  );
});

test('names what differs', () => {
  expect(differences('The dock of row 7 is 3.', 'The dock is 4.')).toEqual([
    { in: 'both', text: 'The dock ' },
    { in: 'old', text: 'of row 7 ' },
    { in: 'both', text: 'is ' },
    { in: 'old', text: '3.' },
    { in: 'new', text: '4.' },
  ]);
});

test('looks at longer pieces where words differ too much, and gives up where all lines do', () => {
  const row = (at: number): string => Array.from({ length: 9 }, (_, word) => `w${at}x${word}`).join(' ');
  const lines = Array.from({ length: 900 }, (_, at) => `${row(at)}\n`);
  const half = lines.filter((_, at) => at % 2 === 0).join('');
  const parts = differences(lines.join(''), half) ?? [];
  expect([side(parts, 'new'), side(parts, 'old')]).toEqual([lines.join(''), half]);
  const other = Array.from({ length: 900 }, (_, at) => `${row(at + 5_000)}\n`).join('');
  expect(differences(lines.join(''), other)).toBeNull();
});
