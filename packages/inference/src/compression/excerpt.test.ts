import { compress, tokenizerFor } from '@tallystick/compress';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTree, sameTree } from '../../../compress/src/json/tree.ts';
import { decodeLossless, type LosslessMethod } from '../../../compress/src/lossless/lossless.ts';
import { anyDocument } from '../../../compress/test/documents.ts';
import { incident, pretty, rows } from '../../../server/test/compressible.ts';
import { nextIn, putTogether, readAnswer } from '../../../server/test/put-together.ts';
import { excerptOf } from './excerpt.ts';
import { argumentsOf } from './retrieve-tool.ts';

const tokenizer = tokenizerFor('gpt-4o');

/** What is made of a document where so much of it may be left. */
function cutOf(document: string, budget: number) {
  const query = 'What of 7919?';
  const options = { tier: 'extractive', budget, tokenizer, query, always: true } as const;
  const { blocks } = compress([{ role: 'tool', content: document }], options);
  return blocks.flatMap((block) => (block.removed === null ? [] : [{ ...block, removed: block.removed }]));
}
type CutBlock = ReturnType<typeof cutOf>[number];
type Cut = CutBlock['removed'];

/** Whether a text is the block as it came or, if it was written in another form before it was cut, decodes to that. */
function isWhole({ original, steps, removed }: CutBlock, text: string): boolean {
  const method = steps.at(-2)?.method;
  if (method === undefined) return text === original;
  if (method === 'line-runs') return decodeLossless({ method, text }) === original;
  // What was packed may be cut in another form, of which more fits.
  const { form } = removed.selection;
  const decoded = form.includes('-') ? decodeLossless({ method: form as LosslessMethod, text }) : text;
  const [tree, own] = [parseTree(listOf(decoded ?? '')), parseTree(listOf(original))];
  return tree !== undefined && own !== undefined && sameTree(tree, own);
}

/** JSON Lines as one list; JSON as a list of it. */
function listOf(text: string): string {
  return parseTree(text.trim()) === undefined ? `[${text.trim().split('\n').join(',')}]` : `[${text}]`;
}

/** What the tool answers to a model that gives these arguments. */
function told(cut: Cut, given: object, maxTokens = 8_000, had: ReadonlySet<number> = new Set()) {
  const wanted = argumentsOf({ function: { arguments: JSON.stringify({ id: cut.id, ...given }) } });
  if (wanted === null) throw new Error('no arguments');
  return excerptOf({ ...cut, wanted, given: had, maxTokens, account: 'caller:a' });
}

/** All answers to a model that goes on as it is told. */
function allOf(cut: Cut, maxTokens: number, first: object = {}): string[] {
  const answers: string[] = [];
  for (let next: object | null = first; next !== null; next = nextIn(answers.at(-1) ?? '')) {
    const { text } = told(cut, next, maxTokens);
    expect(tokenizer.count(text)).toBeLessThanOrEqual(maxTokens);
    answers.push(text);
  }
  return answers;
}

const material = fc.oneof(
  anyDocument,
  fc.nat(60).map((count) => pretty(rows(count))),
  fc
    .nat(60)
    .map((count) => JSON.stringify(rows(count).map((row, i) => (i % 3 ? row : { ...row, own: [i, {}] })))),
  fc
    .nat(90)
    .map(
      (count) =>
        `id,name,qty\n${Array.from({ length: count }, (_, i) => `${i},n${i * 7},${i % 9}`).join('\n')}`,
    ),
  fc.nat(60).map((count) => incident(count, '… […]')),
  fc.nat(40).map((count) => `\n\n${'それは船の話です。夜に港へ着いた。'.repeat(count)}`),
);

describe('a document that was cut', () => {
  it('is put together to the byte from what was sent and what is given back, in parts of any size', () => {
    let cuts = 0;
    fc.assert(
      fc.property(
        material,
        fc.double({ min: 0.05, max: 0.9, noNaN: true }),
        fc.integer({ min: 130, max: 3_000 }),
        (document, budget, most) => {
          for (const block of cutOf(document, budget)) {
            cuts += 1;
            const answers = allOf(block.removed, most);
            expect(
              isWhole(
                block,
                putTogether(block.text, () => answers),
              ),
            ).toBe(true);
          }
        },
      ),
      { numRuns: 150 },
    );
    expect(cuts).toBeGreaterThan(50);
  });
});

describe('what is given back', () => {
  const log = incident(400, 'KILO-4711');
  const cut = cutOf(log, 0.1)[0]?.removed;
  if (cut === undefined) throw new Error('nothing was cut');
  const lines = log.split('\n');
  const missing = new Set(cut.gaps.flatMap(({ first, units }) => units.map((_, i) => first + i)));
  const numbersIn = (text: string): number[] =>
    readAnswer(text, cut.mark).stretches.flatMap(({ from, to }) =>
      Array.from({ length: to - from + 1 }, (_, i) => from + i),
    );

  it('is every line that is missing, once, without those that the model has', () => {
    const { text, given } = told(cut, {}, 100_000);
    expect(given).toEqual([...missing]);
    expect(numbersIn(text)).toEqual([...missing]);
    for (const { from, to, text: own } of readAnswer(text, cut.mark).stretches)
      expect(own.trimEnd().split('\n')).toEqual(lines.slice(from - 1, to));
    expect(text).toMatch(/That is all\.$/);
    expect(told(cut, {}, 100_000, new Set(given))).toMatchObject({
      given: [],
      text: expect.stringContaining('Nothing is missing'),
    });
  });

  it('is what is missing of a range, and no more', () => {
    const within = [...missing].filter((number) => number >= 100 && number <= 140);
    expect(numbersIn(told(cut, { from: 100, to: 140 }).text)).toEqual(within);
    expect(numbersIn(told(cut, { from: '100', to: '140' }).text)).toEqual(within);
    const had = new Set(within.slice(0, 10));
    expect(numbersIn(told(cut, { from: 100, to: 140 }, 8_000, had).text)).toEqual(within.slice(10));
    const { text } = told(cut, { from: 100, to: 140 }, 600);
    expect(nextIn(text)).toEqual({ id: cut.id, from: within[numbersIn(text).length], to: 140 });
    expect(told(cut, { from: 401 }).text).toContain('Nothing is missing');
  });

  it('begins with what a query needs, where not all fits, and goes on with the next nearest', () => {
    const query = `request ${7919 * 377} and request ${7919 * 23}`;
    const first = told(cut, { query }, 600);
    for (const number of [378, 24].filter((one) => missing.has(one))) expect(first.given).toContain(number);
    const next = told(cut, { query }, 600, new Set(first.given));
    expect(next.given.length).toBeGreaterThan(5);
    expect(next.given.filter((number) => first.given.includes(number))).toEqual([]);
    expect(first.text).toMatch(
      new RegExp(`${missing.size - first.given.length} more lines are missing there\\. The same call`),
    );
    expect(told(cut, { query }, 100_000).given).toEqual([...missing]);
  });

  it('is a part of a unit that is too long, which goes on by characters', () => {
    const unit = '🚢 nach Norden, und zurück. '.repeat(200);
    const long = { ...cut, gaps: [{ first: 3, units: [unit, 'The end.'] }] };
    const answers = allOf(long, 200);
    expect(answers.length).toBeGreaterThan(8);
    expect(nextIn(answers[0] ?? '')).toEqual({ id: cut.id, from: 3, offset: expect.any(Number) });
    expect(
      answers.flatMap((text) => readAnswer(text, cut.mark).stretches.map((one) => one.text)).join(''),
    ).toBe(`${unit}The end.`);
  });
});
