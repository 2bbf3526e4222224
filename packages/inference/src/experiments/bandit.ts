import { beta } from './draws.ts';

/** A caller's ratings of a model's answers. */
export interface Ratings {
  readonly count: number;
  /** Sum of the scores, each from 0 to 100. */
  readonly score: number;
}

/** Ratings that the predicted quality counts for. */
const PREDICTED_RATINGS = 20;

/**
 * Thompson sampling: a quality drawn from what the prediction and the caller's ratings leave possible. The fewer ratings
 * a model has, the wider the draws, so that it is tried now and then.
 * @param predicted chance of a good answer, 0 to 1
 * @param seed of the call @param model its id
 */
export function drawnQuality(
  predicted: number,
  ratings: Ratings | undefined,
  seed: string,
  model: string,
): number {
  const { count = 0, score = 0 } = ratings ?? {};
  const good = PREDICTED_RATINGS * predicted + score / 100;
  const bad = PREDICTED_RATINGS * (1 - predicted) + count - score / 100;
  return beta(Math.max(good, LEAST), Math.max(bad, LEAST), seed, model);
}

/** Keeps a certain prediction from being the end of all doubt. */
const LEAST = 0.01;
