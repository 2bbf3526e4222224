import { apply, expand, type LinearModel } from '../../packages/inference/src/router/difficulty.ts';
import type { Example } from './data.ts';
import { train } from './train.ts';

/** The predicted gain of each example, from a model that saw neither its fold nor a near-duplicate of its fold. */
export function heldOut(
  examples: readonly Example[],
  foldOf: (example: Example) => string,
  unitOf: (example: Example) => string = foldOf,
): Float64Array {
  const scores = new Float64Array(examples.length);
  for (const fold of new Set(examples.map(foldOf))) {
    const tested = new Set(examples.filter((example) => foldOf(example) === fold).map(({ group }) => group));
    const seen = examples.filter((example) => foldOf(example) !== fold && !tested.has(example.group));
    const { model } = train(seen, unitOf);
    for (const [index, example] of examples.entries())
      if (foldOf(example) === fold) scores[index] = gainOf(example, model);
  }
  return scores;
}

export function gainOf({ features }: Example, model: LinearModel): number {
  return apply(model.heads.gain, expand(features.values, model));
}

/** Ten folds that keep groups of near-duplicates whole, the same in every run. */
export function foldOfGroup({ group }: Example): string {
  return String(Math.imul(group + 1, 0x9e3779b1) >>> 16).at(-1) ?? '';
}
