import {
  type DemandModel,
  DIRECTIONS,
  levelOf,
  standardDemand,
} from '../../packages/inference/src/router/demand-level.ts';
import type { LinearModel } from '../../packages/inference/src/router/difficulty.ts';
import { FIRST_DEMAND } from '../../packages/inference/src/router/features.ts';
import type { Example } from './data.ts';
import { gainOf } from './evaluate.ts';
import type { LevelledPrompt } from './levels.ts';
import { addRow, noMoments } from './ridge.ts';
import { meansOf, short } from './train.ts';

type Prompts = readonly Pick<LevelledPrompt, 'features'>[];

/** Prompts with what their level is taken for; the sets count alike, whatever their size. */
export interface DemandSet {
  readonly rows: readonly (readonly number[])[];
  readonly targets: readonly number[];
}

/** How much a set weighs. */
const SET_WEIGHT = 300;
/** Ridge penalty on the distance of a weight from `PRIOR`, in its direction. */
const PENALTY = 1_000;
/**
 * Weight of every demand before anything is seen. Equal weights carry over to prompts of another kind better than fitted
 * ones do, so the penalty is high.
 */
const PRIOR = 0.04;
/** What a standard deviation of the gain weighs that graded answers to lettered questions predict: chosen by hand. */
const GAIN_WEIGHT = 0.06;
/** Level by which a wrong answer of the weak model counts as harder than a right one. */
const WRONG = 0.5;
const ROUNDS = 400;

function levelledSet(prompts: readonly LevelledPrompt[]): DemandSet {
  return { rows: demandsOf(prompts), targets: prompts.map(({ level }) => level) };
}

/** Graded answers: what the weak model got wrong counts as harder, within its set. */
export function gradedSet(examples: readonly Example[]): DemandSet {
  return {
    rows: demandsOf(examples),
    targets: examples.map(({ weak }) => WRONG * (1 - weak)),
  };
}

function demandsOf(prompts: Prompts): number[][] {
  return prompts.map(({ features }) => features.values.slice(FIRST_DEMAND));
}

/**
 * Fits the weights that minimise squared error, each set around its own mean, with none against its direction.
 * @param prompts give the standard of demands and of gains, and the scale of levels
 * @param choice predicts gains
 */
export function fitDemands(
  prompts: readonly LevelledPrompt[],
  graded: readonly DemandSet[],
  choice: LinearModel,
): DemandModel {
  const levels = levelledSet(prompts);
  const standard = meansOf(levels.rows);
  const width = DIRECTIONS.length;
  const gram = new Float64Array(width * width);
  const products = new Float64Array(width);
  for (const set of [levels, ...graded]) addSet(set, standard, gram, products);
  const weights = new Float64Array(width);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, direction] of DIRECTIONS.entries()) {
      let rest = products[i]! + PENALTY * PRIOR * direction;
      for (let j = 0; j < width; j++) if (j !== i) rest -= gram[i * width + j]! * weights[j]!;
      const free = rest / (gram[i * width + i]! + PENALTY);
      weights[i] = free * direction < 0 ? 0 : free;
    }
  const gains = meansOf(prompts.map((prompt) => [gainOf(prompt, choice)]));
  const model = {
    ...standard,
    constant: 0,
    weights: Array.from(weights),
    gain: { mean: gains.mean[0]!, deviation: gains.deviation[0]!, weight: GAIN_WEIGHT },
  };
  return stretched(model, prompts, choice);
}

/** Moves and scales the levels so that the mean of the easiest prompts is 0 and that of the hardest 1. */
function stretched(model: DemandModel, prompts: readonly LevelledPrompt[], choice: LinearModel): DemandModel {
  const [easy, hard] = [0, 1].map((level) => {
    const part = prompts.filter((prompt) => prompt.level === level);
    const levels = part.map((prompt) => levelOf(prompt.features.values, gainOf(prompt, choice), model) ?? 0);
    return levels.reduce((sum, one) => sum + one, 0) / part.length;
  });
  const scale = 1 / (hard! - easy!);
  return {
    ...model,
    constant: short(-easy! * scale),
    weights: model.weights.map((weight) => short(weight * scale)),
    gain: { ...model.gain, weight: short(model.gain.weight * scale) },
  };
}

function addSet(
  { rows, targets }: DemandSet,
  standard: Pick<DemandModel, 'mean' | 'deviation'>,
  gram: Float64Array,
  products: Float64Array,
): void {
  const width = DIRECTIONS.length;
  const moments = noMoments(width, 1);
  for (const [index, row] of rows.entries())
    addRow(
      moments,
      Float64Array.from(row, (value, i) => standardDemand(value, i, standard)),
      [targets[index]!],
    );
  const { count, sum, targetSums } = moments;
  for (let i = 0; i < width; i++) {
    products[i]! += (SET_WEIGHT * (moments.targets[0]![i]! - (sum[i]! * targetSums[0]!) / count)) / count;
    for (let j = 0; j < width; j++) {
      const product = moments.gram[Math.max(i, j) * width + Math.min(i, j)]!;
      gram[i * width + j]! += (SET_WEIGHT * (product - (sum[i]! * sum[j]!) / count)) / count;
    }
  }
}
