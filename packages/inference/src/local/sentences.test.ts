import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitSentences } from './sentences.ts';

const split = (text: string): string[] =>
  splitSentences(text).map(({ start, end }) => text.slice(start, end));

describe('splitSentences', () => {
  it.each([
    ['two', 'It rained. We stayed in.', ['It rained.', 'We stayed in.']],
    ['titles', 'Dr. Marsh met Mrs. Oyelaran. They spoke.', ['Dr. Marsh met Mrs. Oyelaran.', 'They spoke.']],
    ['initials', 'J. R. Hale wrote it. It sold.', ['J. R. Hale wrote it.', 'It sold.']],
    [
      'e.g. and i.e.',
      'Use a mark, e.g. Apple or i.e. Pear. Done.',
      ['Use a mark, e.g. Apple or i.e. Pear.', 'Done.'],
    ],
    [
      'decimals',
      'It rose 3.5 percent. Version 2.0.1 is out.',
      ['It rose 3.5 percent.', 'Version 2.0.1 is out.'],
    ],
    [
      'names with dots',
      'Open app.config.ts first. Call a.b() then.',
      ['Open app.config.ts first.', 'Call a.b() then.'],
    ],
    ['times', 'It left at 7:40 a.m. The bus came.', ['It left at 7:40 a.m.', 'The bus came.']],
    ['quotes', '“Is it?” she said. “Yes.” He left.', ['“Is it?” she said.', '“Yes.”', 'He left.']],
    ['Chinese', '天晴了。我们走吧！好吗？', ['天晴了。', '我们走吧！', '好吗？']],
    ['Japanese in brackets', '「雨です。」傘をどうぞ。', ['「雨です。」', '傘をどうぞ。']],
    ['Spanish', '¿Dónde está? Está aquí.', ['¿Dónde está?', 'Está aquí.']],
    [
      'list',
      'Bring:\n- tea\n- two cups\n1. Boil. 2. Pour.',
      ['Bring:', '- tea', '- two cups', '1. Boil.', '2. Pour.'],
    ],
    ['heading', '# Leave\nStaff have 26 days.', ['# Leave', 'Staff have 26 days.']],
    [
      'wrapped lines',
      'The river that runs past the old mill is deep\nand cold in winter. Nobody swims.',
      ['The river that runs past the old mill is deep\nand cold in winter.', 'Nobody swims.'],
    ],
    ['code', 'See:\n```js\na. B();\n\nc? D : e;\n```\nEnd.', ['See:', 'a. B();\n\nc? D : e;', 'End.']],
    ['nothing', ' \n\n ', []],
  ])('%s', (_, text, sentences) => {
    expect(split(text)).toEqual(sentences);
  });

  it('loses nothing but blanks and fences, and keeps the order', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('. ', '? ', '\n', '。', 'e.g. ', ' A', '- '),
    );
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join('').replaceAll(/[`~]/g, '');
        let at = 0;
        let between = '';
        for (const { start, end } of splitSentences(text)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(start);
          between += text.slice(at, start);
          at = end;
        }
        expect((between + text.slice(at)).trim()).toBe('');
      }),
    );
  });

  it('cuts what is too long, not within a character', () => {
    const parts = split(`x${'𠮷'.repeat(3_000)}`);
    expect(parts.join('')).toBe(`x${'𠮷'.repeat(3_000)}`);
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(1_000);
    expect(parts.every((part) => part.isWellFormed())).toBe(true);
  });
});
