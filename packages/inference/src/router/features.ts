import type { Domain } from '../catalogue/domains.ts';
import { type Scan, type SymbolClass, scan } from './characters.ts';
import { DEMANDS, readDemands } from './demands.ts';
import { guessDomain } from './domain.ts';
import { countWords, WORD_GROUPS } from './lexicon.ts';
import { overlap, share, splitOptions } from './options.ts';

/** The features of a prompt, without its text: all that the router uses. */
export interface PromptFeatures {
  /** `choice` offers lettered answers; `free` does not. */
  readonly form: 'choice' | 'free';
  readonly domain: Domain;
  /** In the order of `FEATURE_NAMES`, to four decimals. */
  readonly values: readonly number[];
}

const SYMBOLS: readonly SymbolClass[] = [
  'equals',
  'caret',
  'operator',
  'parenthesis',
  'logic',
  'quote',
  'percent',
  'dollar',
  'backslash',
];
const FIRST_PERSON = WORD_GROUPS.indexOf('first_person');
const LONG_WORD = 8;
const NEGATED = /\b(?:NOT|EXCEPT|LEAST|except|not true|incorrect)\b/;
const TRUTH = /\b(?:true|false|wrong|right|yes|no|valid|invalid)\b/i;
const REFERRING = /\b(?:all|none|both|neither|above|these)\b/i;
const FORMULA = /[=^∀∃⊃∨∧•≡→~·\\]/;
const STARTS_NUMERIC = /^[\s$€£-]*\d/;

export const FEATURE_NAMES: readonly string[] = [
  'log_words',
  'log_words_over_30',
  'log_words_over_100',
  'log_characters',
  'word_length',
  'long_words',
  'distinct_words',
  'log_sentences',
  'log_words_per_sentence',
  'capitalised',
  'all_capitals',
  'single_letters',
  'numbers',
  'log_numbers',
  'digits',
  'question',
  'blank',
  'statements',
  'negated',
  'first_person',
  ...SYMBOLS.map((name) => `symbol_${name}`),
  'option_log_words',
  'option_spread',
  'option_overlap',
  'option_distinct_words',
  'option_words_in_stem',
  'option_starts_numeric',
  'option_digit',
  'option_comma',
  'option_truth',
  'option_referring',
  'option_formula',
  ...WORD_GROUPS.map((name) => `option_${name}`),
  ...DEMANDS.map((name) => `demand_${name}`),
];

/** Where the demands begin, of which the models of graded answers take none. */
export const FIRST_DEMAND = FEATURE_NAMES.length - DEMANDS.length;

/** Features that are also multiplied with each other, and squared. */
export const CROSSED: readonly number[] = indicesOf([
  'log_words',
  'word_length',
  'log_words_per_sentence',
  'numbers',
  'blank',
  'question',
  'first_person',
  'option_log_words',
  'option_overlap',
  'option_distinct_words',
  'option_digit',
  'option_negation',
]);

/** Index of a feature, and 1 for its largest usual value or -1 for its least. */
export type Bound = readonly [feature: number, side: 1 | -1];

/** The bounds that show whether a prompt is like the training data of its form: all needed ones, and most of the usual. */
interface Likeness {
  readonly needed: readonly Bound[];
  readonly usual: readonly Bound[];
}

const demands = (names: string): string[] => names.split(' ').map((name) => `demand_${name}`);
const SHAPE = ['log_words', 'word_length', 'log_numbers', 'question'];
/** A word problem of arithmetic has numbers in sentences. Open prompts beyond its bounds are mostly beyond the needed ones. */
export const LIKENESS: Readonly<Record<PromptFeatures['form'], Likeness>> = {
  choice: { needed: [...bounds(-1, SHAPE), ...bounds(1, SHAPE)], usual: [] },
  free: {
    needed: [
      ...bounds(-1, ['log_words', 'log_numbers', 'log_sentences']),
      ...bounds(1, ['word_length', ...demands('material long_words judgement expert literary')]),
    ],
    usual: [
      ...bounds(-1, ['word_length', 'log_words_per_sentence', 'capitalised']),
      ...bounds(1, ['log_words', 'log_numbers', 'log_sentences', 'log_words_per_sentence', 'capitalised']),
      ...bounds(1, demands('task rigour limit code product symbols simple parts')),
    ],
  },
};

/** Characters that are read from the start, and from the end, of a longer text, which bounds the time. */
const READ_CHARACTERS = 2_000;

const NO_OPTIONS: readonly number[] = ofOptions([], []);

function indicesOf(names: readonly string[]): number[] {
  return names.map((name) => FEATURE_NAMES.indexOf(name));
}

function bounds(side: 1 | -1, names: readonly string[]): Bound[] {
  return indicesOf(names).map((feature) => [feature, side] as const);
}

/** Reads the features of a prompt. Pure. */
export function readPrompt(prompt: string): PromptFeatures {
  const text = excerpt(prompt);
  const { stem, options } = splitOptions(text);
  const scanned = scan(stem);
  const counts = countWords(scanned.words);
  const { groups } = counts;
  const offered = options.length === 0 ? NO_OPTIONS : ofOptions(options, scanned.words);
  const values = ofStem(text, stem, scanned, groups).concat(offered, readDemands(stem, scanned, counts));
  return {
    form: options.length > 0 ? 'choice' : 'free',
    domain: guessDomain(groups, scanned.words.length),
    values: values.map((value) => Math.round(value * 10_000) / 10_000),
  };
}

function excerpt(text: string): string {
  if (text.length <= 2 * READ_CHARACTERS) return text;
  return `${text.slice(0, READ_CHARACTERS)}\n${text.slice(-READ_CHARACTERS)}`;
}

function ofStem(text: string, stem: string, scanned: Scan, groups: readonly number[]): number[] {
  const { words, sentences, symbols } = scanned;
  const per = (count: number): number => count / (words.length + 8);
  const logWords = Math.log1p(words.length);
  let letters = 0;
  let long = 0;
  for (const word of words) {
    letters += word.length;
    if (word.length >= LONG_WORD) long++;
  }
  return [
    logWords,
    Math.max(0, logWords - Math.log1p(30)),
    Math.max(0, logWords - Math.log1p(100)),
    Math.log1p(text.length),
    letters / (words.length + 4),
    per(long),
    per(new Set(words).size),
    Math.log1p(sentences),
    Math.log1p(words.length / (sentences + 1)),
    per(scanned.capitalised),
    per(scanned.allCapitals),
    per(scanned.singleLetters),
    per(scanned.numbers),
    Math.log1p(scanned.numbers),
    per(scanned.digits),
    Number(/\?\s*$/.test(stem)),
    Number(/_{2,}/.test(stem)),
    Number(/statement\s+[12i]/i.test(stem)),
    Number(NEGATED.test(stem)),
    per(groups[FIRST_PERSON] ?? 0),
    ...SYMBOLS.map((name) => per(symbols[name])),
  ];
}

function ofOptions(options: readonly string[], stemWords: readonly string[]): number[] {
  const words = options.map((option) => scan(option).words);
  const all = words.flat();
  const distinct = new Set(all);
  const inStem = new Set(stemWords);
  let repeated = 0;
  for (const word of distinct) if (inStem.has(word)) repeated++;
  const lengths = words.map((some) => some.length);
  return [
    Math.log1p(all.length / Math.max(1, options.length)),
    options.length === 0 ? 0 : Math.log1p(Math.max(...lengths) - Math.min(...lengths)),
    // Options without a word (numbers, formulas) count as equal.
    overlap(words.map((some) => new Set(some.length > 0 ? some : ['']))),
    distinct.size / (all.length + 4),
    repeated / (distinct.size + 2),
    share(options, STARTS_NUMERIC),
    share(options, /\d/),
    share(options, /,/),
    share(options, TRUTH),
    share(options, REFERRING),
    share(options, FORMULA),
    ...countWords(all).groups.map((count) => count / (all.length + 8)),
  ];
}
