import { DEMANDS } from './demands.ts';
import { FIRST_DEMAND } from './features.ts';

/** A linear model of the level of a prompt on its standardised demands. */
export interface DemandModel {
  readonly mean: readonly number[];
  readonly deviation: readonly number[];
  readonly constant: number;
  /** None is below 0, except those of `EASING`, of which none is above. */
  readonly weights: readonly number[];
  /** Of the gain that the model of lettered questions predicts for the prompts of known order. */
  readonly gain: { readonly mean: number; readonly deviation: number; readonly weight: number };
}

/** Demands of which more makes a prompt easier. */
const EASING: ReadonlySet<string> = new Set(['greeting', 'simple']);
/** 1 where more of a demand can only make a prompt harder, -1 where it can only make it easier. */
export const DIRECTIONS: readonly (1 | -1)[] = DEMANDS.map((name) => (EASING.has(name) ? -1 : 1));

const SIZE = DEMANDS.indexOf('size');
const CLIP = 3;
/**
 * The level of a prompt: 0 is the mean of easy ones, 1 that of hard ones, and neither is a limit. Null where it has no text.
 * @param gain of a strong model over a weak one, predicted from graded answers to other prompts
 */
export function levelOf(values: readonly number[], gain: number, model: DemandModel): number | null {
  if ((values[FIRST_DEMAND + SIZE] ?? 0) === 0) return null;
  let level = model.constant + model.gain.weight * standardise(gain, model.gain.mean, model.gain.deviation);
  for (let i = 0; i < DEMANDS.length; i++)
    level += (model.weights[i] ?? 0) * standardDemand(values[FIRST_DEMAND + i] ?? 0, i, model);
  return level;
}

export function standardDemand(
  value: number,
  index: number,
  { mean, deviation }: Pick<DemandModel, 'mean' | 'deviation'>,
): number {
  return standardise(value, mean[index] ?? 0, deviation[index] ?? 0);
}

function standardise(value: number, mean: number, width: number): number {
  return width === 0 ? 0 : Math.max(-CLIP, Math.min(CLIP, (value - mean) / width));
}
