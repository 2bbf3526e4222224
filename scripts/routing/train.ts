import {
  cross,
  expand,
  type LinearModel,
  type Standard,
  standardise,
} from '../../packages/inference/src/router/difficulty.ts';
import { type Bound, FIRST_DEMAND, LIKENESS } from '../../packages/inference/src/router/features.ts';
import { apgr } from './curve.ts';
import type { Example } from './data.ts';
import { addRow, combine, type Moments, noMoments, type Solution, solve } from './ridge.ts';

const PENALTIES = [300, 1_000, 3_000, 6_000, 10_000] as const;
const INNER_FOLDS = 5;
/** Share of examples at either end whose values count as unlike the training data. */
const SUPPORT_TAIL = { choice: 0.005, free: 0.02 } as const;

export interface Trained {
  readonly model: LinearModel;
  readonly penalty: number;
}

/**
 * Fits both heads. The penalty is the one that does best on inner folds of the same examples.
 * @param foldOf unit that the inner folds must not split: subject or group of duplicates
 */
export function train(examples: readonly Example[], foldOf: (example: Example) => string): Trained {
  const values = examples.map(({ features }) => features.values.slice(0, FIRST_DEMAND));
  const support = supportOf(
    examples.map(({ features }) => features.values),
    examples[0]?.features.form ?? 'free',
  );
  const standard = standardOf(values);
  const rows = values.map((row) => Float64Array.from(expand(row, standard)));
  const folds = innerFolds(examples, foldOf);
  const width = rows[0]?.length ?? 0;
  const parts = Array.from({ length: INNER_FOLDS }, () => noMoments(width, 2));
  for (const [index, { weak, strong }] of examples.entries())
    addRow(parts[folds[index]!]!, rows[index]!, [weak, strong - weak]);
  const all = parts.reduce((sum, part) => combine(sum, part, 1));
  const penalty = bestPenalty(examples, rows, folds, parts, all);
  const [weak, gain] = solve(all, penalty).map(rounded);
  if (weak === undefined || gain === undefined) throw new Error('Two targets have two solutions.');
  return { model: { ...standard, support, heads: { weak, gain } }, penalty };
}

function bestPenalty(
  examples: readonly Example[],
  rows: readonly Float64Array[],
  folds: Int32Array,
  parts: readonly Moments[],
  all: Moments,
): number {
  const indices = examples.map((_, index) => index);
  const rest = parts.map((part) => combine(all, part, -1));
  const areas = PENALTIES.map((penalty) => {
    const solutions = rest.map((moments) => solve(moments, penalty)[1]!);
    const scores = Float64Array.from(rows, (row, index) => scored(solutions[folds[index]!]!, row));
    return apgr(scores, examples, indices);
  });
  return PENALTIES[areas.indexOf(Math.max(...areas))]!;
}

function scored({ constant, weights }: Solution, row: Float64Array): number {
  let sum = constant;
  for (let i = 0; i < weights.length; i++) sum += weights[i]! * row[i]!;
  return sum;
}

/** Distributes units over folds, the largest first, each to the smallest fold so far. */
function innerFolds(examples: readonly Example[], foldOf: (example: Example) => string): Int32Array {
  const sizes = new Map<string, number>();
  for (const example of examples) sizes.set(foldOf(example), (sizes.get(foldOf(example)) ?? 0) + 1);
  const filled = Array.from({ length: INNER_FOLDS }, () => 0);
  const place = new Map<string, number>();
  for (const [unit, size] of [...sizes].toSorted((a, b) => b[1] - a[1])) {
    const fold = filled.indexOf(Math.min(...filled));
    place.set(unit, fold);
    filled[fold]! += size;
  }
  return Int32Array.from(examples, (example) => place.get(foldOf(example)) ?? 0);
}

function standardOf(values: readonly (readonly number[])[]): Standard {
  const { mean, deviation } = meansOf(values);
  const products = values.map((row) => cross(standardise(row, mean, deviation)));
  const crossed = meansOf(products);
  return { mean, deviation, crossedMean: crossed.mean, crossedDeviation: crossed.deviation };
}

export function meansOf(rows: readonly ArrayLike<number>[]): { mean: number[]; deviation: number[] } {
  const width = rows[0]?.length ?? 0;
  const mean = new Float64Array(width);
  const square = new Float64Array(width);
  for (const row of rows)
    for (let i = 0; i < width; i++) {
      mean[i]! += row[i]! / rows.length;
      square[i]! += row[i]! ** 2 / rows.length;
    }
  return {
    mean: Array.from(mean, short),
    deviation: Array.from(square, (value, i) => {
      const variance = value - mean[i]! ** 2;
      return variance < 1e-8 ? 0 : short(Math.sqrt(variance));
    }),
  };
}

function supportOf(
  values: readonly (readonly number[])[],
  form: keyof typeof LIKENESS,
): LinearModel['support'] {
  const tail = SUPPORT_TAIL[form];
  const boundOf = ([feature, side]: Bound): number[] => {
    const sorted = Float64Array.from(values, (row) => row[feature]!).sort();
    return [feature, side, sorted[Math.floor((side < 0 ? tail : 1 - tail) * (sorted.length - 1))]!];
  };
  const { needed, usual } = LIKENESS[form];
  return { needed: needed.map(boundOf), usual: usual.map(boundOf) };
}

function rounded({ constant, weights }: Solution): { constant: number; weights: number[] } {
  return { constant: short(constant), weights: Array.from(weights, short) };
}

export function short(value: number): number {
  return Number(value.toPrecision(5));
}
