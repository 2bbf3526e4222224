import { expect, test } from 'vitest';
import { type Choice, ranked, select } from './select.ts';

const choice = (worth: number, priced = worth, heading?: number): Choice => ({
  tokens: 10,
  worth,
  priced,
  block: 0,
  heading,
  fixed: false,
});
const kept = (choices: readonly Choice[], budget: number): number[] =>
  select(choices, ranked(choices), budget, 0).flatMap((keeps, i) => (keeps ? i : []));

/** Two headings: two units under the first, and one under the second. */
const choices = [choice(0), choice(9, 8, 0), choice(6, 4, 0), choice(0), choice(7, 5, 3)];

test('a unit under a heading that is kept comes before one that needs another heading', () => {
  expect(kept(choices, 40)).toStrictEqual([0, 1, 2, 3]);
  expect(kept(choices, 50)).toStrictEqual([0, 1, 2, 3, 4]);
});

test('a heading is kept with each unit under it, alone only in what is left', () => {
  expect(kept(choices, 20)).toStrictEqual([0, 1]);
  expect(kept(choices, 19)).toStrictEqual([0]);
});

test('without headings units are kept by their worth', () => {
  expect(kept([choice(1), choice(3), choice(2)], 20)).toStrictEqual([1, 2]);
});
