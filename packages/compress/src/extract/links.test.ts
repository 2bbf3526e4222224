import { expect, test } from 'vitest';
import { indexOf } from './bm25.ts';
import { linkStrengths } from './links.ts';
import { questionTerms } from './question.ts';

const names = ['KQPLM', 'TTRXA', 'ZOWNE', 'BDFHJ', 'MMKAE', 'PLIRW'];
const chain = names.map((name, i) => `VAR ${name} = ${i === 0 ? '41872' : `VAR ${names[i - 1]}`}`);
const filler = Array.from(
  { length: 30 },
  (_, i) => `The shelf of hall ${i} is made of wood, says the HTTP page.`,
);

function linked(texts: readonly string[], query: string): string[] {
  const units = texts.map((text) => ({ text, block: 0, lead: 0, heading: 0, edge: false, salience: 0 }));
  const strengths = linkStrengths(indexOf(texts), units, query);
  return texts
    .map((text, i) => ({ text, strength: strengths[i] ?? 0 }))
    .filter(({ strength }) => strength > 0)
    .toSorted((a, b) => b.strength - a.strength)
    .map(({ text }) => text);
}

test('a chain of variables is linked to the value that is asked for, nearest first', () => {
  const texts = [
    ...chain.slice(3),
    ...filler.slice(0, 10),
    chain[1]!,
    chain[0]!,
    ...filler.slice(10),
    chain[2]!,
  ];
  expect(linked(texts, 'Which variables are assigned the value 41872?')).toStrictEqual(chain);
});

test('what many units hold links nothing, and a question without identifiers has no links', () => {
  expect(linked([...filler, 'The HTTP page is HTTP.'], 'What does HTTP say?')).toStrictEqual([]);
  expect(linked([...filler, ...chain], 'Which variables have the same value?')).toStrictEqual([]);
});

test('a part of an identifier finds it, and a question of common words alone is looked for by these', () => {
  const index = indexOf([...filler, 'commit 65aa669 adds a queue', 'It also rains.']);
  expect([...questionTerms(index, 'What does it say about aa669?').keys()]).toContain('65aa669');
  expect([...questionTerms(index, 'What does it say about also?').keys()]).toContain('also');
});
