import { readFileSync } from 'node:fs';
import { compress, tokenizerFor } from '@tallystick/compress';
import { describe, expect, test } from 'vitest';
import { keptLines, materialOf } from './baselines.ts';
import { corpus } from './corpus.ts';
import { differences } from './differences.ts';
import { type Case, checked, type Document, fetched, textOf } from './document.ts';
import { grade } from './grade.ts';
import { losslessOutcome, sameContent } from './lossless.ts';
import { type DocumentPrint, printOf } from './print-of.ts';
import { withTables } from './readme.ts';
import { measureOne, type Results } from './results.ts';
import { corpusDigest } from './sources.ts';
import { interval, mean, median, quantile } from './statistics.ts';

const shipped = JSON.parse(
  readFileSync(new URL('../../packages/inference/src/benchmark/results.json', import.meta.url), 'utf8'),
) as Results;
const documents = corpus();
const tokenizer = tokenizerFor();

describe('the corpus', () => {
  test('is the one that the shipped results are of', () => {
    expect(corpusDigest()).toBe(shipped.corpus.sha256);
    expect(documents.map(({ id }) => id)).toEqual(shipped.documents.map(({ id }: DocumentPrint) => id));
  });

  test('asks every question once of a document, and of hundreds of facts', () => {
    const cases = documents.flatMap((document) => document.cases);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    const facts = new Set(cases.flatMap(({ source, gold }) => gold.map(({ text }) => `${source} ${text}`)));
    expect(facts.size).toBeGreaterThan(350);
  });

  test('holds a fact that stands twice, or nowhere, for a fault', () => {
    const [document] = documents as [Document];
    const [question] = document.cases as [Case];
    const first = textOf(document.messages).slice(0, 4);
    for (const text of [first.slice(0, 1), 'no such fact']) {
      const faulty = { ...document, cases: [{ ...question, gold: [{ text }] }] };
      expect(() => checked(faulty)).toThrow(/stands (nowhere|twice)/);
    }
  });
});

/** Documents that take a moment each: of every kind of material some. */
const quick = documents.filter(
  ({ cases, messages }) => textOf(messages).length * Math.max(1, cases.length) < 400_000,
);

describe('the shipped results', () => {
  test('are of material of every kind but the longest', () => {
    const kinds = new Set(quick.map(({ modality }) => modality));
    expect([...kinds].sort()).toEqual([...new Set(documents.map(({ modality }) => modality))].sort());
  });

  test.each(quick.map((document) => [document.id, document] as const))(
    'are what the package gives now for %s; otherwise run `npm run benchmark`',
    (id, document) => {
      expect(printOf(measureOne(document))).toEqual(
        shipped.documents.find((one: DocumentPrint) => one.id === id),
      );
    },
  );
});

const rows = Array.from(
  { length: 80 },
  (_, i) => `The ${i}th note speaks of the garden and of nothing else.`,
);
const needle = 'The spare key hangs behind the clock in the hall.';
const small: Document = {
  id: 'small',
  modality: 'prose',
  messages: fetched('read_notes', [[...rows.slice(0, 40), needle, ...rows.slice(40)].join('\n\n')]),
  cases: [
    {
      id: 'small#1',
      kind: 'needle',
      wording: 'plain',
      source: 'small',
      question: 'Where is the spare key?',
      gold: [{ text: needle }],
    },
  ],
  budgets: [0.5, 0.1],
  headings: [],
};

test('the tables for readers are those of the shipped results', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  expect(withTables(readme, shipped)).toBe(readme);
});

describe('grading', () => {
  const outcomes = grade(small, tokenizer);
  const of = (tier: string, budget: number) =>
    outcomes.find((one) => one.tier === tier && one.budget === budget)!;

  test('finds the fact where it is, and misses it where it isn’t', () => {
    expect(of('extractive', 0.1)).toMatchObject({ kept: 1, facts: 1, missing: [], over: false });
    expect(of('tail', 0.1)).toMatchObject({ kept: 0, facts: 0, missing: [needle] });
  });

  test('holds every tier to the same tokens', () => {
    for (const { after, before, budget, over } of outcomes) {
      expect(over).toBe(after > Math.floor(before * budget));
    }
    expect(of('tail', 0.5).after / of('tail', 0.5).before).toBeGreaterThan(0.45);
  });

  test('counts what is over its budget as lost, with all of its facts there', () => {
    const messages = [{ role: 'system', content: needle }, ...small.messages];
    const [outcome] = grade({ ...small, messages, budgets: [0.001] }, tokenizer);
    expect(outcome).toMatchObject({ kept: 0, facts: 1, over: true });
  });

  test('a row counts only where all of what is asked stands together', () => {
    const gold = [{ text: 'L1', near: ['red'] }];
    const text = (row: string) => `L0\tblue\n${row}\n${'x\ty\n'.repeat(400)}L9\tred\n`;
    const facts = (row: string) => {
      const messages = fetched('t', [text(row)]);
      const one: Document = { ...small, messages, cases: [{ ...small.cases[0]!, gold }], budgets: [0.999] };
      return grade(one, tokenizer).find(({ tier }) => tier === 'tail')!.facts;
    };
    expect([facts('L1\tred'), facts('L1\tgreen')]).toEqual([1, 0]);
  });

  test('a date counts only where the fact’s own heading is the last one before it', () => {
    const headings = ['## Monday', '## Tuesday'];
    const content = `## Monday\n\nAda: one\nBen: two\n\n## Tuesday\n\nAda: three is the answer\nBen: four\n`;
    const datedUnder = (heading: string) => {
      const gold = [{ text: 'three is the answer', heading }];
      const cases = [{ ...small.cases[0]!, kind: 'when' as const, gold }];
      const one = { ...small, messages: fetched('t', [content]), cases, headings, budgets: [0.999] };
      return grade(one, tokenizer).find(({ tier }) => tier === 'extractive')!.dated;
    };
    expect([datedUnder('## Tuesday'), datedUnder('## Monday')]).toEqual([1, 0]);
  });
});

test('the baselines stay within their room, and draw the same again', () => {
  const material = materialOf(small.messages, tokenizer);
  for (const tier of ['tail', 'random'] as const) {
    const kept = keptLines(tier, material, 100, 'seed');
    expect(kept.every(({ tokens }) => tokens <= 100 && tokens > 60)).toBe(true);
    expect(keptLines(tier, material, 100, 'seed')).toEqual(kept);
  }
});

describe('what is lossless', () => {
  test('is decoded to the same values in the same lexemes', () => {
    expect(sameContent('[{"a":1.0}]', '[ {"a": 1.0} ]')).toBe(true);
    expect(sameContent('[{"a":1}]', '[ {"a": 1.0} ]')).toBe(false);
    expect(sameContent('[{"a":"2"}]', '[ {"a": "1"} ]')).toBe(false);
    expect(sameContent('a', 'b')).toBe(false);
  });

  test('every document of the corpus that is quick to take comes back', () => {
    for (const document of quick) expect(losslessOutcome(document, tokenizer).equal, document.id).toBe(true);
  });

  test('code and diffs are the same bytes in every tier', () => {
    for (const { messages } of documents.filter(({ modality }) => modality === 'code and diffs')) {
      for (const tier of ['lossless', 'extractive'] as const) {
        const code = messages.filter(({ role }) => role === 'tool');
        expect(compress(code, { tier, budget: 0.1 }).messages).toEqual(code);
      }
    }
  });
});

describe('statistics', () => {
  test('of known numbers', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(quantile([1, 2, 3, 4], 0.975)).toBe(4);
    expect(mean([0, 1, 1].map((value) => ({ cluster: 'a', value })))).toBe(0.6667);
  });

  test('questions on one text count for less than questions on many', () => {
    const values = Array.from({ length: 100 }, (_, i) => i % 2);
    const apart = interval(
      values.map((value, i) => ({ cluster: String(i), value })),
      's',
    );
    const together = interval(
      values.map((value) => ({ cluster: String(value), value })),
      's',
    );
    expect(apart[0]).toBeGreaterThan(0.38);
    expect(apart[1]).toBeLessThan(0.62);
    expect(together).toEqual([0, 1]);
  });
});

test('differences name the place, and both values', () => {
  expect(differences({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }], c: 4 })).toEqual([
    'a.1.b: 2 → 3',
    'c: nothing → 4',
  ]);
});
