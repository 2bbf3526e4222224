import { openCatalogue } from '../packages/inference/src/catalogue/open.ts';
import { supported } from '../packages/inference/src/router/difficulty.ts';
import { createRouter } from '../packages/inference/src/router/router.ts';
import { weights } from '../packages/inference/src/router/weights.ts';
import { apgr } from '../scripts/routing/curve.ts';
import { type Example, readRoutingData } from '../scripts/routing/data.ts';
import { foldOfGroup, folds, gainOf, gainsOf } from '../scripts/routing/evaluate.ts';
import { interval } from '../scripts/routing/interval.ts';
import { train } from '../scripts/routing/train.ts';
import type { Report, Row } from './report.ts';
import { defaultRows } from './routing-default.ts';
import { APGR_NEVER_SEEN, levelRows } from './routing-levels.ts';

const AIM_MS = 0.2;
const APGR_WITHIN = 0.7;

/** Measures the router on graded answers: how much of the cost-quality curve it recovers, and how long a decision takes. */
export async function routing(): Promise<Report> {
  const { mmlu, gsm8k } = readRoutingData();
  const subjects = [...folds(mmlu, ({ subject }) => subject)];
  const tenths = [...folds(gsm8k, foldOfGroup, ({ group }) => String(group))];
  const gains = gainsOf(mmlu, subjects);
  const { model } = train(mmlu, ({ subject }) => subject);
  const unseen = Float64Array.from(gsm8k, (example) => gainOf(example, model));
  return {
    title: 'Router: area under the cost-quality curve recovered (APGR), and the time of a decision',
    method: METHOD,
    rows: [
      ...rowsOf('MMLU', mmlu, gains, APGR_WITHIN),
      spread('MMLU, router, resampling subjects', mmlu, gains, ({ subject }) => subject),
      ...rowsOf('GSM8K', gsm8k, gainsOf(gsm8k, tenths), APGR_WITHIN),
      { ...areaRow('GSM8K, router that never saw GSM8K', gsm8k, unseen), aim: { at_least: APGR_NEVER_SEEN } },
      supportRow(gsm8k),
      ...defaultRows({ mmlu, gsm8k }, subjects, tenths),
      ...levelRows({ mmlu, gsm8k }),
      ...decisions([...mmlu, ...gsm8k]),
    ],
  };
}

const METHOD = [
  'Data: lm-sys/RouteLLM, answers of Mixtral 8x7B (weak) and GPT-4 1106 (strong), graded right or wrong.',
  'MMLU: each of 57 subjects left out in turn. GSM8K is one subject: ten folds of its own, and once never seen.',
  'Near-duplicates of a tested prompt are kept out of training; the ridge penalty is chosen inside the folds.',
  'Cost is the share of calls to the strong model. In brackets: a 95% interval, 2000 resamples of groups of near-duplicates.',
  'Best single: always one model; a curve between always weak and always strong has an area of 0.5, as random has.',
  'At the default: what `cost_quality` 5 chooses between the strong and the cheap model of `npm run bench -- strategies`, by weights that',
  'saw neither the prompt’s fold nor its near-duplicates; by lot: what a choice by chance gets right that costs as much.',
  'What it can’t do:',
  '- the features were designed with sight of this data; only weights and penalty are held out',
  '- within a subject it hardly tells easy from hard: most of the gain comes from telling kinds of questions apart',
  '- a free prompt that is no word problem of arithmetic has a level by what it asks: no answers to such prompts are graded',
  '- it learnt from one pair of models of 2023, in English; other models are placed by priors that are estimates',
  '- the levels are those of bench/difficulty: made by construction, with one author for prompts and counted words',
  '- what prompts of a level cost is by weights that saw these prompts, with priors of 0.6, 0.75 and 0.88 of three tiers',
  '- it reads the last user message: not the history, not images, not what a good answer to open questions is',
].join('\n');

/** Results of router, random choice, oracle and best single model on one set. */
function rowsOf(name: string, examples: readonly Example[], scores: Float64Array, aim: number): Row[] {
  const constant = new Float64Array(examples.length);
  const oracle = Float64Array.from(examples, ({ weak, strong }) => strong - weak);
  const half = (chosen: Float64Array): number => qualityAt(examples, chosen, 0.5);
  const rate = (row: string, value: number): Row => ({ name: `${name}, ${row}`, value, unit: 'right' });
  return [
    { ...areaRow(`${name}, router`, examples, scores), aim: { at_least: aim } },
    areaRow(`${name}, random`, examples, constant),
    areaRow(`${name}, oracle`, examples, oracle),
    rate('always weak', qualityAt(examples, constant, 0)),
    rate('best single: always strong', qualityAt(examples, constant, 1)),
    rate('router, half of the calls strong', half(scores)),
    rate('random, half of the calls strong', half(constant)),
    rate('oracle, half of the calls strong', half(oracle)),
  ];
}

function areaRow(name: string, examples: readonly Example[], scores: Float64Array): Row {
  return spread(name, examples, scores, ({ group }) => String(group));
}

function spread(
  name: string,
  examples: readonly Example[],
  scores: Float64Array,
  unitOf: (example: Example) => string,
): Row {
  const indices = examples.map((_, index) => index);
  const rounds = interval(scores, examples, examples.map(unitOf));
  return { name, value: apgr(scores, examples, indices), unit: 'APGR', rounds };
}

/** The share of right answers when the given share of the calls, those with the highest scores, goes to the strong model. */
function qualityAt(examples: readonly Example[], scores: Float64Array, share: number): number {
  const sorted = examples.map((_, index) => index).toSorted((a, b) => scores[b]! - scores[a]!);
  const constant = scores.every((score) => score === scores[0]);
  let right = 0;
  for (const [place, index] of sorted.entries()) {
    const strong = constant ? share : Number(place < share * sorted.length);
    const example = examples[index]!;
    right += strong * example.strong + (1 - strong) * example.weak;
  }
  return right / sorted.length;
}

function supportRow(examples: readonly Example[]): Row {
  const known = examples.filter(({ features }) => supported(features.values, weights.models.free));
  return {
    name: 'GSM8K, prompts that count as known',
    value: known.length / examples.length,
    unit: 'of all',
  };
}

/** Times of whole decisions, with every default provider configured. */
function decisions(examples: readonly Example[]): Row[] {
  const keys = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'MISTRAL', 'GROQ', 'DEEPSEEK'];
  const { catalogue } = openCatalogue(Object.fromEntries(keys.map((name) => [`${name}_API_KEY`, 'x'])));
  const router = createRouter(catalogue, { rest: () => null });
  const chat = catalogue.models.filter(({ kind }) => kind === 'chat').length;
  const time = (prompt: string): number => {
    const body = { model: 'auto', messages: [{ role: 'user', content: prompt }] };
    const start = performance.now();
    router.route({ body, promptTokens: 500, maxOutputTokens: 0, preferences: {}, session: null });
    return performance.now() - start;
  };
  const prompts = examples.filter((_, index) => index % 5 === 0).map(({ prompt }) => prompt);
  const long = 'The quick brown fox jumps over 13 lazy dogs, doesn’t it? '.repeat(700);
  for (const prompt of prompts) time(prompt);
  const times = prompts.map(time).toSorted((a, b) => a - b);
  const longTimes = Array.from({ length: 300 }, () => time(long)).toSorted((a, b) => a - b);
  const at = (sorted: readonly number[], share: number): number =>
    sorted[Math.floor(share * sorted.length)] ?? 0;
  const row = (name: string, value: number): Row => ({ name, value, unit: 'ms' });
  const aimed = (name: string, value: number): Row => ({ ...row(name, value), aim: { at_most: AIM_MS } });
  return [
    aimed(`decision among ${chat} models, p50`, at(times, 0.5)),
    row(`decision among ${chat} models, p99`, at(times, 0.99)),
    aimed('decision on a prompt of 40 kB, p50', at(longTimes, 0.5)),
  ];
}
