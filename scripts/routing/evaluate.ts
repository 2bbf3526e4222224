import { apply, expand, type LinearModel } from '../../packages/inference/src/router/difficulty.ts';
import type { Example } from './data.ts';
import { train } from './train.ts';

/** A part of the examples, and the model of those that are neither in it nor near-duplicates of its. */
export interface Fold {
  readonly indices: readonly number[];
  readonly seen: readonly Example[];
  readonly model: LinearModel;
}

/** Leaves out each fold in turn. */
export function* folds(
  examples: readonly Example[],
  foldOf: (example: Example) => string,
  unitOf: (example: Example) => string = foldOf,
): Generator<Fold> {
  for (const fold of new Set(examples.map(foldOf))) {
    const indices = examples.flatMap((example, index) => (foldOf(example) === fold ? [index] : []));
    const tested = new Set(indices.map((index) => examples[index]!.group));
    const seen = examples.filter((example) => foldOf(example) !== fold && !tested.has(example.group));
    yield { indices, seen, model: train(seen, unitOf).model };
  }
}

/** The predicted gain of each example of some folds, each from the model that did not see it. */
export function gainsOf(examples: readonly Example[], parts: Iterable<Fold>): Float64Array {
  const scores = new Float64Array(examples.length);
  for (const { indices, model } of parts)
    for (const index of indices) scores[index] = gainOf(examples[index]!, model);
  return scores;
}

export function gainOf({ features }: Pick<Example, 'features'>, model: LinearModel): number {
  return apply(model.heads.gain, expand(features.values, model));
}

/** Ten folds that keep groups of near-duplicates whole, the same in every run. */
export function foldOfGroup({ group }: Example): string {
  return String(Math.imul(group + 1, 0x9e3779b1) >>> 16).at(-1) ?? '';
}
