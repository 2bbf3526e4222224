import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { CROSSED, FEATURE_NAMES, FIRST_DEMAND, LIKENESS, readPrompt } from './features.ts';
import { weights } from './weights.ts';

function valueOf(text: string, name: string): number | undefined {
  return readPrompt(text).values[FEATURE_NAMES.indexOf(name)];
}

it('names every feature once, and finds those that it crosses', () => {
  expect(new Set(FEATURE_NAMES).size).toBe(FEATURE_NAMES.length);
  const bounds = Object.values(LIKENESS).flatMap(({ needed, usual }) => [...needed, ...usual]);
  expect([...CROSSED, ...bounds.map(([feature]) => feature)].every((index) => index >= 0)).toBe(true);
});

it('reads any text into as many finite numbers as the weights are for', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
      const { values } = readPrompt(text);
      expect(values).toHaveLength(FEATURE_NAMES.length);
      expect(values.every(Number.isFinite)).toBe(true);
    }),
  );
  for (const { mean, deviation, crossedMean, heads } of Object.values(weights.models)) {
    expect(mean).toHaveLength(FIRST_DEMAND);
    expect(deviation).toHaveLength(FIRST_DEMAND);
    expect(crossedMean).toHaveLength((CROSSED.length * (CROSSED.length + 1)) / 2);
    expect(heads.gain.weights).toHaveLength(FIRST_DEMAND + crossedMean.length);
  }
});

it('tells lettered answers from a free question', () => {
  const text = 'Is it true?\nA. True, True\nB. False, False\nC. True, False\nD. False, True\nAnswer:';
  expect(readPrompt(text).form).toBe('choice');
  expect(valueOf(text, 'option_truth')).toBe(1);
  expect(valueOf(text, 'option_overlap')).toBe(0.5);
  expect(readPrompt('Is it true?\nA. Only one').form).toBe('free');
});

it.each([
  ['The defendant sued under a contract; the court and jury found no liability in tort.', 'law'],
  ['What is the derivative of a polynomial function of degree 3, and its prime factor?', 'mathematics'],
  ['Write a poem about my cat.', 'general'],
])('guesses the domain of %j', (text, domain) => {
  expect(readPrompt(text).domain).toBe(domain);
});

it('reads the start and the end of a long text only', () => {
  const middle = 'x '.repeat(50_000);
  const around = (text: string): string => `${'a b. '.repeat(500)}${text}${' c d.'.repeat(500)}`;
  expect(readPrompt(around(middle)).values).toEqual(readPrompt(around(`${middle}?!`)).values);
});
