import { canonicalize, type JsonValue, TallyError } from '@tallystick/core';
import { armOf } from '../experiments/compare.ts';
import { decide } from './decide.ts';
import { measuredHash, ratingsHash } from './measured-hash.ts';
import type { RouteExplanation, RouteOutcome } from './record.ts';
import { weights } from './weights.ts';

export interface Replay {
  readonly recorded: RouteExplanation;
  /** What the recorded inputs lead to now. */
  readonly outcome: RouteOutcome;
  readonly same: boolean;
  /** Members of the outcome that differ. */
  readonly differences: readonly string[];
}

/**
 * Decides again from the inputs that an explanation records. It runs in browsers too: the console bundles it.
 * @throws invalid_field with `inputs.weights`, `inputs.learned`, `inputs.bandit.ratings` or `inputs.comparison.arm`: see `replay`
 */
export function redecide(recorded: RouteExplanation): Replay {
  if (recorded.inputs.weights !== weights.id) {
    throw new TallyError(
      'invalid_field',
      `inputs.weights: the decision was made with the weights ${recorded.inputs.weights}; this version has ${weights.id}. Use the version that made it.`,
      { field: 'inputs.weights' },
    );
  }
  const { learned = null, bandit, comparison = null, candidates } = recorded.inputs;
  if (learned !== null && learned !== measuredHash(candidates)) {
    throw new TallyError(
      'invalid_field',
      'inputs.learned: this is not the hash of what the candidates’ records say was learned, so one of them was changed.',
      { field: 'inputs.learned' },
    );
  }
  if (bandit?.ratings !== undefined && bandit.ratings !== ratingsHash(candidates)) {
    throw new TallyError(
      'invalid_field',
      'inputs.bandit.ratings: this is not the hash of the ratings in the candidates’ records, so one of them was changed.',
      { field: 'inputs.bandit.ratings' },
    );
  }
  if (comparison !== null && comparison.arm !== armOf(comparison)) {
    throw new TallyError(
      'invalid_field',
      'inputs.comparison.arm: the seed and the share give the other arm, so one of them was changed.',
      { field: 'inputs.comparison.arm' },
    );
  }
  const outcome = decide(recorded.inputs);
  const keys = Object.keys(outcome) as (keyof RouteOutcome)[];
  const differences = keys.filter((key) => text(outcome[key]) !== text(recorded.outcome[key]));
  return { recorded, outcome, same: differences.length === 0, differences };
}

function text(value: unknown): string {
  return canonicalize(value as JsonValue);
}
