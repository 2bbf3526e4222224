import { parseUsdc } from '@tallystick/ledger';
import { DEFAULT_COST_QUALITY, decide } from '../packages/inference/src/router/decide.ts';
import type { PromptFeatures } from '../packages/inference/src/router/features.ts';
import type { CandidateRecord } from '../packages/inference/src/router/record.ts';
import { domainOf } from '../packages/inference/src/router/router.ts';
import { type Weights, weights } from '../packages/inference/src/router/weights.ts';
import type { Example, RoutingData } from '../scripts/routing/data.ts';
import { fitDemands, gradedSet } from '../scripts/routing/demand-model.ts';
import type { Fold } from '../scripts/routing/evaluate.ts';
import { readLevels } from '../scripts/routing/levels.ts';
import { referenceOf } from '../scripts/routing/reference.ts';
import { train } from '../scripts/routing/train.ts';
import { PAIR } from './graded-pair.ts';
import type { Row } from './report.ts';

const CHARACTERS_PER_TOKEN = 4;
const CONTEXT = 128_000;

/** Costs and right answers of the calls of one set, in nano-USDC and in calls; each for every way of choosing. */
interface Sums {
  readonly calls: number;
  readonly cost: Readonly<Record<Way, number>>;
  readonly right: Readonly<Record<Way, number>>;
}

type Way = 'router' | 'strong' | 'cheap';

/** What the default chooses of graded prompts that its weights did not see, and what a choice by lot at its cost gets right. */
export function defaultRows(
  { mmlu, gsm8k }: RoutingData,
  subjects: readonly Fold[],
  tenths: readonly Fold[],
): Row[] {
  const choice = train(mmlu, ({ subject }) => subject).model;
  const free = train(gsm8k, ({ group }) => String(group)).model;
  const reference = { choice: referenceOf(mmlu), free: referenceOf(gsm8k) };
  const levels = readLevels();
  const [ofMmlu, ofGsm8k] = [gradedSet(mmlu), gradedSet(gsm8k)];
  const bySubject = sumsOf(mmlu, subjects, ({ model, seen }) => ({
    ...weights,
    models: { choice: model, free },
    demands: fitDemands(levels, [gradedSet(seen), ofGsm8k], model),
    reference: { ...reference, choice: referenceOf(seen) },
  }));
  const byTenth = sumsOf(gsm8k, tenths, ({ model, seen }) => ({
    ...weights,
    models: { choice, free: model },
    demands: fitDemands(levels, [ofMmlu, gradedSet(seen)], choice),
    reference: { ...reference, free: referenceOf(seen) },
  }));
  return [
    ...rowsOf('MMLU', [bySubject]),
    ...rowsOf('GSM8K', [byTenth]),
    ...rowsOf('both, half each', [bySubject, byTenth]),
  ];
}

/** @param sets that count alike, whatever their size */
function rowsOf(name: string, sets: readonly Sums[]): Row[] {
  const mean = (of: 'cost' | 'right', way: Way): number =>
    sets.reduce((sum, set) => sum + set[of][way] / set.calls, 0) / sets.length;
  const [least, most] = [mean('cost', 'cheap'), mean('cost', 'strong')];
  const share = (mean('cost', 'router') - least) / (most - least);
  const byLot = mean('right', 'cheap') + share * (mean('right', 'strong') - mean('right', 'cheap'));
  return [
    {
      name: `${name}, at the default`,
      value: mean('cost', 'router') / most,
      unit: 'of always strong’s cost',
    },
    { name: `${name}, at the default`, value: mean('right', 'router'), unit: 'right' },
    { name: `${name}, by lot at that cost`, value: byLot, unit: 'right' },
  ];
}

function sumsOf(
  examples: readonly Example[],
  folds: readonly Fold[],
  weightsOf: (fold: Fold) => Weights,
): Sums {
  const cost = { router: 0, strong: 0, cheap: 0 };
  const right = { router: 0, strong: 0, cheap: 0 };
  for (const fold of folds) {
    const using = weightsOf(fold);
    for (const index of fold.indices) {
      const { prompt, features, strong, weak } = examples[index]!;
      const { chosen, costs } = route(prompt, features, using);
      const grades = { strong, cheap: weak };
      for (const way of ['router', 'strong', 'cheap'] as const) {
        const model = way === 'router' ? chosen : way;
        cost[way] += costs[model];
        right[way] += grades[model];
      }
    }
  }
  return { calls: examples.length, cost, right };
}

function route(prompt: string, { form, domain: guessed, values }: PromptFeatures, using: Weights) {
  const domain = domainOf({ form, domain: guessed, values }, using);
  const { model, scores } = decide(
    {
      weights: using.id,
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
      candidates: [candidate('strong', domain), candidate('cheap', domain)],
      unaffordable: [],
    },
    using,
  );
  const costOf = (name: string): number =>
    Number(scores.find((score) => score.model === name)?.expected_cost);
  const chosen = model === 'strong' ? ('strong' as const) : ('cheap' as const);
  return { chosen, costs: { strong: costOf('strong'), cheap: costOf('cheap') } };
}

function candidate(model: keyof typeof PAIR, domain: string): CandidateRecord {
  const { input, output, prior } = PAIR[model];
  return {
    model,
    provider: 'bench',
    context: CONTEXT,
    max_output: 8_000,
    abilities: [],
    input_price: parseUsdc(input).toString(),
    output_price: parseUsdc(output).toString(),
    prior: domain === 'mathematics' ? prior.mathematics : prior.general,
    available: true,
  };
}
