import { describe, expect, test } from 'vitest';
import { type Case, conversations, halves, hopCases, logCases, needleCases, recordCases } from './sets.ts';
import { interval, outcomesOf, shareKept } from './survival.ts';

/** What is left at 10% of the tokens, at least; conversations are of the half that the ranking was not tuned with. */
const sets: readonly (readonly [name: string, cases: () => Case[], least: number])[] = [
  ['conversations', () => conversations(61, 2, ['lines', 'nested'], halves.confirm), 0.55],
  ['needles', () => needleCases(61, 40), 0.85],
  ['two hops', () => hopCases(61, 10).filter(({ set }) => set === 'multi-hop/2'), 0.3],
  ['rows', () => recordCases(61, 1), 0.95],
  ['incidents', () => logCases(61, 10), 0.7],
];

describe.each(sets)('at a tenth of the tokens: %s', (_name, make, least) => {
  const cases = make();
  const ours = outcomesOf(cases, ['extractive'], 0.1);
  const baseline = outcomesOf(cases, ['bm25'], 0.1);

  test('the answer stays, more often than by BM25', () => {
    expect(shareKept(ours)).toBeGreaterThanOrEqual(least);
    expect(interval(ours, baseline)[0]).toBeGreaterThanOrEqual(0);
  });

  test('no tier takes more than it may', () => {
    for (const { used } of [...ours, ...baseline]) expect(used).toBeLessThanOrEqual(1);
  });
});
