import { type DemandModel, levelOf } from './demand-level.ts';
import { CROSSED, type PromptFeatures } from './features.ts';

/** A linear model of one form of prompts, on standardised features and products of them. */
export interface LinearModel {
  readonly mean: readonly number[];
  readonly deviation: readonly number[];
  readonly crossedMean: readonly number[];
  readonly crossedDeviation: readonly number[];
  /**
   * Index of a feature, 1 for its largest or -1 for its least usual value in training, and that value. Beyond one of the
   * needed bounds, or beyond several of the usual ones, a prompt is unlike the data.
   */
  readonly support: {
    readonly needed: readonly (readonly number[])[];
    readonly usual: readonly (readonly number[])[];
  };
  readonly heads: { readonly weak: Head; readonly gain: Head };
}

/** A constant and a weight for each feature, then for each product. */
export interface Head {
  readonly constant: number;
  readonly weights: readonly number[];
}

/** What is expected of a weak and of a strong model on a prompt. */
export interface Difficulty {
  /** The chance that the weak model answers correctly. */
  readonly weak: number;
  /** The strong model's chance minus that; below 0 if it is worse. */
  readonly gain: number;
  /**
   * `graded`: predicted from graded answers of two models to prompts of this kind. `construction`: from the demands of the
   * text; then only the order of prompts was trained, and the chances are assumed. Absent in explanations from before
   * there were two.
   */
  readonly basis?: 'graded' | 'construction';
}

const CLIP = 3;
/** Usual bounds that a prompt like the training data may be beyond: a quarter of them are beyond one. */
const MOST_UNUSUAL = 3;
/** Products are penalised more than the features themselves. */
const CROSSED_SCALE = 0.7;

export type Standard = Pick<LinearModel, 'mean' | 'deviation' | 'crossedMean' | 'crossedDeviation'>;

/** Products of each two of the crossed features, squares among them. */
const PRODUCTS = (CROSSED.length * (CROSSED.length + 1)) / 2;

/** Standardised features, then their standardised products. One pass, and no array beside the result. */
export function expand(values: readonly number[], standard: Standard): Float64Array {
  const { mean, deviation, crossedMean, crossedDeviation } = standard;
  const expanded = new Float64Array(mean.length + PRODUCTS);
  for (let i = 0; i < mean.length; i++)
    expanded[i] = standardised(values[i] ?? 0, mean[i] ?? 0, deviation[i] ?? 0);
  let product = 0;
  for (let i = 0; i < CROSSED.length; i++) {
    const one = expanded[CROSSED[i] ?? 0] ?? 0;
    for (let j = i; j < CROSSED.length; j++) {
      const value = one * (expanded[CROSSED[j] ?? 0] ?? 0);
      expanded[mean.length + product] =
        CROSSED_SCALE * standardised(value, crossedMean[product] ?? 0, crossedDeviation[product] ?? 0);
      product++;
    }
  }
  return expanded;
}

/** @param mean of each value @param deviation of each value; 0 turns the value off */
export function standardise(
  values: ArrayLike<number>,
  mean: readonly number[],
  deviation: readonly number[],
): Float64Array {
  return Float64Array.from(values, (value, i) => standardised(value, mean[i] ?? 0, deviation[i] ?? 0));
}

function standardised(value: number, mean: number, deviation: number): number {
  if (deviation === 0) return 0;
  const distance = (value - mean) / deviation;
  return distance > CLIP ? CLIP : distance < -CLIP ? -CLIP : distance;
}

/** The products of each two of the crossed features, squares among them. */
export function cross(single: ArrayLike<number>): Float64Array {
  const products = new Float64Array(PRODUCTS);
  let next = 0;
  for (let i = 0; i < CROSSED.length; i++) {
    const one = single[CROSSED[i] ?? 0] ?? 0;
    for (let j = i; j < CROSSED.length; j++) products[next++] = one * (single[CROSSED[j] ?? 0] ?? 0);
  }
  return products;
}

/**
 * Logit of the weak model's chance to fail at level 0, what it rises by to level 1, and the share of these failures that
 * the strong model makes too. Assumed: no answers to such prompts are graded.
 */
const ASSUMED = { failing: -5, rise: 5.4, shared: 0.35 } as const;

/** The models by which difficulties are predicted. */
export interface DifficultyModels {
  readonly models: Readonly<Record<PromptFeatures['form'], LinearModel>>;
  readonly demands: DemandModel;
}

/** The difficulty by graded answers to prompts of this kind, else by its demands; null for a prompt without text. */
export function difficultyOf(
  { form, values }: Pick<PromptFeatures, 'form' | 'values'>,
  { models, demands }: DifficultyModels,
): Difficulty | null {
  if (supported(values, models[form])) return gradedDifficulty(values, models[form]);
  const level = levelOf(values, gradedDifficulty(values, models.choice).gain, demands);
  return level === null ? null : difficultyAt(level);
}

/** @param level as `levelOf` gives it: with it the chance of the weak model falls and the gain of the strong one rises */
export function difficultyAt(level: number): Difficulty {
  const failing = 1 / (1 + Math.exp(-(ASSUMED.failing + ASSUMED.rise * level)));
  return { weak: 1 - failing, gain: failing * (1 - ASSUMED.shared), basis: 'construction' };
}

function gradedDifficulty(values: readonly number[], model: LinearModel): Difficulty {
  const expanded = expand(values, model);
  return {
    weak: apply(model.heads.weak, expanded),
    gain: apply(model.heads.gain, expanded),
    basis: 'graded',
  };
}

export function apply({ constant, weights }: Head, expanded: ArrayLike<number>): number {
  let sum = constant;
  for (let i = 0; i < expanded.length; i++) sum += (weights[i] ?? 0) * (expanded[i] ?? 0);
  return sum;
}

/** Whether a prompt is like the model's training data. */
export function supported(values: readonly number[], { support }: Pick<LinearModel, 'support'>): boolean {
  const isBeyond = ([feature = 0, side = 0, bound = 0]: readonly number[]): boolean =>
    side * (values[feature] ?? 0) > side * bound;
  return !support.needed.some(isBeyond) && support.usual.filter(isBeyond).length <= MOST_UNUSUAL;
}
