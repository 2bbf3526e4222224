import { CROSSED, type PromptFeatures, SUPPORT } from './features.ts';

/** A linear model of one form of prompts, on standardised features and products of them. */
export interface LinearModel {
  readonly mean: readonly number[];
  readonly deviation: readonly number[];
  readonly crossedMean: readonly number[];
  readonly crossedDeviation: readonly number[];
  /** The least and the largest value seen in training of each feature in `SUPPORT`. */
  readonly support: readonly (readonly number[])[];
  readonly heads: { readonly weak: Head; readonly gain: Head };
}

/** A constant and a weight for each feature, then for each product. */
export interface Head {
  readonly constant: number;
  readonly weights: readonly number[];
}

/** The predicted quality of the two graded models on a prompt. */
export interface Difficulty {
  /** The chance that the weak model answers correctly. */
  readonly weak: number;
  /** The strong model's chance minus that; below 0 if it is worse. */
  readonly gain: number;
}

const CLIP = 3;
/** Products are penalised more than the features themselves. */
const CROSSED_SCALE = 0.7;

export type Standard = Pick<LinearModel, 'mean' | 'deviation' | 'crossedMean' | 'crossedDeviation'>;

/** Standardised features, then their products. */
export function expand(values: readonly number[], standard: Standard): Float64Array {
  const single = standardise(values, standard.mean, standard.deviation);
  const products = standardise(cross(single), standard.crossedMean, standard.crossedDeviation);
  const expanded = new Float64Array(single.length + products.length);
  expanded.set(single);
  for (let i = 0; i < products.length; i++)
    expanded[single.length + i] = CROSSED_SCALE * (products[i] as number);
  return expanded;
}

/** @param mean of each value @param deviation of each value; 0 turns the value off */
export function standardise(
  values: ArrayLike<number>,
  mean: readonly number[],
  deviation: readonly number[],
): Float64Array {
  const standard = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const width = deviation[i] ?? 0;
    if (width === 0) continue;
    standard[i] = Math.max(-CLIP, Math.min(CLIP, ((values[i] ?? 0) - (mean[i] ?? 0)) / width));
  }
  return standard;
}

/** The products of each two of the crossed features, squares among them. */
export function cross(single: ArrayLike<number>): Float64Array {
  const products = new Float64Array((CROSSED.length * (CROSSED.length + 1)) / 2);
  let next = 0;
  for (let i = 0; i < CROSSED.length; i++) {
    const one = single[CROSSED[i] ?? 0] ?? 0;
    for (let j = i; j < CROSSED.length; j++) products[next++] = one * (single[CROSSED[j] ?? 0] ?? 0);
  }
  return products;
}

/** The model's prediction; null for a prompt unlike its training data. */
export function difficultyOf(
  { values }: Pick<PromptFeatures, 'values'>,
  model: LinearModel,
): Difficulty | null {
  if (!supported(values, model)) return null;
  const expanded = expand(values, model);
  return { weak: apply(model.heads.weak, expanded), gain: apply(model.heads.gain, expanded) };
}

export function apply({ constant, weights }: Head, expanded: ArrayLike<number>): number {
  let sum = constant;
  for (let i = 0; i < expanded.length; i++) sum += (weights[i] ?? 0) * (expanded[i] ?? 0);
  return sum;
}

/** Whether a prompt is like the model's training data. */
export function supported(values: readonly number[], { support }: LinearModel): boolean {
  return SUPPORT.every((feature, index) => {
    const value = values[feature] ?? 0;
    const [least = 0, largest = 0] = support[index] ?? [];
    return value >= least && value <= largest;
  });
}
