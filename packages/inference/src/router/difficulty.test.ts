import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DIRECTIONS } from './demand-level.ts';
import { type Difficulty, difficultyAt, difficultyOf } from './difficulty.ts';
import { readPrompt } from './features.ts';
import { weights } from './weights.ts';

function difficulty(prompt: string): Difficulty | null {
  return difficultyOf(readPrompt(prompt), weights);
}

const WORD_PROBLEM =
  'A farmer has 12 cows. Each cow gives 8 liters of milk a day, and he sells the milk for $2 a liter. On Sunday he gives 16 liters to his neighbors. How many dollars does he make on Sunday?';

it.each([
  ['Hi!', 'construction'],
  ['你好', 'construction'],
  ['Write a poem about my cat.', 'construction'],
  [WORD_PROBLEM, 'graded'],
  ['Which gas do plants take in from the air?\nA. Oxygen\nB. Carbon dioxide\nC. Helium\nD. Neon', 'graded'],
])('says what the difficulty of %j rests on', (prompt, basis) => {
  expect(difficulty(prompt)?.basis).toBe(basis);
});

it('takes a word problem for one though some of its counts are unusual', () => {
  const names = 'THE FARMERS JOHN, MARY, PAUL AND ANN ';
  expect(difficulty(WORD_PROBLEM.replace('A farmer ', names))?.basis).toBe('graded');
  expect(difficulty(WORD_PROBLEM.replace(/\d+/g, 'many'))?.basis).toBe('construction');
});

it('has a difficulty for every text, and none without text', () => {
  expect(difficulty('')).toBeNull();
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), (text) => {
      const found = difficulty(text);
      expect(found).not.toBeNull();
      expect(found?.weak).not.toBeNaN();
      expect(found?.gain).not.toBeNaN();
    }),
    { numRuns: 50 },
  );
});

it.each([
  ['Thanks!', 'Why do we have leap years? Answer in three sentences of at most 12 words each.'],
  [
    'What does "merci" mean?',
    'Translate this clause, keep its ambiguity, and justify each choice: "The Seller may withhold the Goods until its claims are met."',
  ],
  [
    'Who wrote Hamlet?',
    'Compare two theories of who wrote Hamlet and argue for the stronger one, with evidence.',
  ],
  ['你好', '请证明根号二是无理数，并说明每一步的理由，然后给出另外一种证明方法'],
])('finds %j easier than %j', (easy, hard) => {
  const [one, other] = [difficulty(easy), difficulty(hard)];
  expect(one?.weak).toBeGreaterThan(other?.weak ?? 1);
  expect(one?.gain).toBeLessThan(other?.gain ?? 0);
});

it('takes a weaker chance and a larger gain for a higher level', () => {
  const levels = fc.double({ min: -2, max: 3, noNaN: true });
  fc.assert(
    fc.property(levels, levels, (one, other) => {
      const [low, high] = [difficultyAt(Math.min(one, other)), difficultyAt(Math.max(one, other))];
      expect(high.weak).toBeLessThanOrEqual(low.weak);
      expect(high.gain).toBeGreaterThanOrEqual(low.gain);
    }),
  );
});

it('weighs no demand against its direction', () => {
  expect(weights.demands.weights).toHaveLength(DIRECTIONS.length);
  for (const [index, weight] of weights.demands.weights.entries())
    expect(weight * (DIRECTIONS[index] ?? 0)).toBeGreaterThanOrEqual(0);
});

it('does not count what is quoted as asked', () => {
  const quoted = 'Must it, if so, be proved, derived, justified and implemented without any exception?';
  const ask = (text: string): number => difficulty(`Who wrote this? "${text}"`)?.weak ?? 0;
  expect(ask(quoted)).toBeCloseTo(ask('x'.repeat(quoted.length)), 2);
});

it('reads hostile texts in linear time', () => {
  for (const unit of ['"', '“', '„', '```', '\n\n', 'write: ', '? '])
    expect(difficulty(unit.repeat(4_000))).not.toBeNull();
});
