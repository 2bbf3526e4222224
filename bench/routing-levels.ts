import { DEFAULT_COST_QUALITY, decide } from '../packages/inference/src/router/decide.ts';
import { type DemandModel, levelOf } from '../packages/inference/src/router/demand-level.ts';
import type { LinearModel } from '../packages/inference/src/router/difficulty.ts';
import { readPrompt } from '../packages/inference/src/router/features.ts';
import { splitOptions } from '../packages/inference/src/router/options.ts';
import type { CandidateRecord } from '../packages/inference/src/router/record.ts';
import { weights } from '../packages/inference/src/router/weights.ts';
import { apgr } from '../scripts/routing/curve.ts';
import type { Example, RoutingData } from '../scripts/routing/data.ts';
import { fitDemands, gradedSet } from '../scripts/routing/demand-model.ts';
import { gainOf } from '../scripts/routing/evaluate.ts';
import { type LevelledPrompt, readLevels } from '../scripts/routing/levels.ts';
import { heldOutLevels } from '../scripts/routing/levels-held-out.ts';
import { auc, spearman } from '../scripts/routing/rank.ts';
import { train } from '../scripts/routing/train.ts';
import type { Row } from './report.ts';

const LEAST_SPEARMAN = 0.6;
const MOST_COST = 0.2;
/** Aims for graded answers of a kind that the model never saw. */
export const APGR_NEVER_SEEN = 0.62;
const AUC_NEVER_SEEN = 0.65;
const CHARACTERS_PER_TOKEN = 4;

const MAX_PROMPT = 1_000_000;

const CANDIDATES = [
  tier('small', 0.05, 0.2, 0.6),
  tier('middle', 0.4, 1.6, 0.75),
  tier('large', 3, 15, 0.88),
];

/** @param input dollars for 1,000,000 tokens @param output the same for the answer @param prior of every domain */
function tier(model: string, input: number, output: number, prior: number): CandidateRecord {
  return {
    model,
    provider: 'bench',
    context: MAX_PROMPT,
    max_output: 8_000,
    abilities: [],
    input_price: String(input * 1e9),
    output_price: String(output * 1e9),
    prior,
    available: true,
  };
}

/** How prompts of known order are ordered and what they cost, and how demands order graded answers never seen. */
export function levelRows({ mmlu, gsm8k }: RoutingData): Row[] {
  const prompts = readLevels();
  const { model: choice } = train(mmlu, ({ subject }) => subject);
  const predicted = heldOutLevels(prompts, [gradedSet(mmlu), gradedSet(gsm8k)], choice);
  const lengths = prompts.map(({ prompt }) => prompt.length);
  const families = [...new Set(prompts.map(({ family }) => family))];
  const correlation = (name: string, levels: readonly number[], family?: string): Row => {
    const part = prompts.flatMap((prompt, index) =>
      family === undefined || prompt.family === family ? [index] : [],
    );
    const value = spearman(
      part.map((index) => levels[index]!),
      part.map((index) => prompts[index]!.level),
    );
    return { name, value, unit: 'Spearman' };
  };
  return [
    { ...correlation('levels, families held out', predicted), aim: { at_least: LEAST_SPEARMAN } },
    correlation('levels, by length alone', lengths),
    ...families.map((family) => correlation(`levels of ${family}, held out`, predicted, family)),
    ...costRows(prompts),
    ...unseen(gsm8k, fitDemands(prompts, [gradedSet(mmlu)], choice), choice),
    stems(mmlu, fitDemands(prompts, [gradedSet(gsm8k)], choice)),
  ];
}

interface Routed {
  readonly model: string;
  /** Nano-USDC expected for the call. */
  readonly cost: number;
}

function route(prompt: string): Routed {
  const { form, domain, values } = readPrompt(prompt);
  const { model, scores } = decide({
    weights: weights.id,
    requested: 'auto',
    prompt_tokens: Math.ceil(prompt.length / CHARACTERS_PER_TOKEN),
    max_output_tokens: 0,
    cost_quality: DEFAULT_COST_QUALITY,
    needs: [],
    order: [],
    only: null,
    ignore: [],
    max_price: { prompt: null, completion: null },
    pinned: null,
    domain,
    features: { form, values },
    candidates: CANDIDATES,
    unaffordable: [],
  });
  return { model, cost: Number(scores.find((score) => score.model === model)?.expected_cost) };
}

/** What prompts of each level cost with three models, at the default `cost_quality`. */
function costRows(prompts: readonly LevelledPrompt[]): Row[] {
  const [low = [], middle = [], high = []] = [0, 0.5, 1].map((level) =>
    prompts.filter((prompt) => prompt.level === level).map(({ prompt }) => route(prompt)),
  );
  const cost = (calls: readonly Routed[]): number => calls.reduce((sum, call) => sum + call.cost, 0);
  const shareOf = (calls: readonly Routed[], model: string): number =>
    calls.filter((call) => call.model === model).length / calls.length;
  return [
    {
      name: 'cost of level 1 beside that of level 3',
      value: cost(low) / cost(high),
      unit: 'ratio',
      aim: { at_most: MOST_COST },
    },
    { name: 'cost of level 2 beside that of level 3', value: cost(middle) / cost(high), unit: 'ratio' },
    ...[low, middle, high].flatMap((calls, index) =>
      CANDIDATES.map(({ model }) => ({
        name: `level ${index + 1}, to the ${model} model`,
        value: shareOf(calls, model),
        unit: 'of the calls',
      })),
    ),
  ];
}

/** How a level, learned without a set of graded answers, orders that set. */
function unseen(examples: readonly Example[], model: DemandModel, choice: LinearModel): Row[] {
  const levels = examples.map(
    (example) => levelOf(example.features.values, gainOf(example, choice), model) ?? 0,
  );
  const rows = examples.map((_, index) => index);
  return [
    {
      name: 'GSM8K, level that never saw GSM8K',
      value: apgr(Float64Array.from(levels), examples, rows),
      unit: 'APGR',
      aim: { at_least: APGR_NEVER_SEEN },
    },
    {
      name: 'GSM8K, level that never saw GSM8K',
      value: wrongs(levels, examples),
      unit: 'AUC of wrong answers',
      aim: { at_least: AUC_NEVER_SEEN },
    },
  ];
}

/** The questions of MMLU as open prompts. The model of lettered questions has learned from them, so it takes no part. */
function stems(examples: readonly Example[], model: DemandModel): Row {
  const levels = examples.map(({ prompt }) => {
    const { values } = readPrompt(splitOptions(prompt).stem);
    return levelOf(values, model.gain.mean, model) ?? 0;
  });
  return {
    name: 'MMLU without its options, level that never saw MMLU',
    value: wrongs(levels, examples),
    unit: 'AUC of wrong answers',
    aim: { at_least: AUC_NEVER_SEEN },
  };
}

function wrongs(levels: readonly number[], examples: readonly Example[]): number {
  return auc(
    levels,
    examples.map(({ weak }) => weak === 0),
  );
}
