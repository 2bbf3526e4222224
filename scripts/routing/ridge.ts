/** Sums from which a ridge regression is solved: of rows, of their products, and of their products with each target. */
export interface Moments {
  readonly width: number;
  count: number;
  readonly sum: Float64Array;
  /** Row-major Gram matrix, of which the lower triangle is filled. */
  readonly gram: Float64Array;
  readonly targetSums: Float64Array;
  readonly targets: readonly Float64Array[];
}

export function noMoments(width: number, targets: number): Moments {
  return {
    width,
    count: 0,
    sum: new Float64Array(width),
    gram: new Float64Array(width * width),
    targetSums: new Float64Array(targets),
    targets: Array.from({ length: targets }, () => new Float64Array(width)),
  };
}

export function addRow(moments: Moments, row: Float64Array, targets: readonly number[]): void {
  const { width, sum, gram } = moments;
  moments.count++;
  for (let i = 0; i < width; i++) {
    const value = row[i]!;
    sum[i]! += value;
    if (value === 0) continue;
    const start = i * width;
    for (let j = 0; j <= i; j++) gram[start + j]! += value * row[j]!;
  }
  for (const [k, target] of targets.entries()) {
    moments.targetSums[k]! += target;
    const products = moments.targets[k]!;
    for (let i = 0; i < width; i++) products[i]! += target * row[i]!;
  }
}

/** `a + sign · b`, member by member. */
export function combine(a: Moments, b: Moments, sign: 1 | -1): Moments {
  const add = (x: Float64Array, y: Float64Array): Float64Array => x.map((value, i) => value + sign * y[i]!);
  return {
    width: a.width,
    count: a.count + sign * b.count,
    sum: add(a.sum, b.sum),
    gram: add(a.gram, b.gram),
    targetSums: add(a.targetSums, b.targetSums),
    targets: a.targets.map((target, k) => add(target, b.targets[k]!)),
  };
}

export interface Solution {
  readonly constant: number;
  readonly weights: Float64Array;
}

/**
 * The weights that minimise squared error plus `penalty` times their squares, one solution a target. The constant
 * is not penalised.
 */
export function solve(moments: Moments, penalty: number): Solution[] {
  const { width, count, sum, gram, targetSums, targets } = moments;
  const factor = new Float64Array(width * width);
  for (let i = 0; i < width; i++)
    for (let j = 0; j <= i; j++)
      factor[i * width + j] = gram[i * width + j]! - (sum[i]! * sum[j]!) / count + (i === j ? penalty : 0);
  cholesky(factor, width);
  return targets.map((products, k) => {
    const mean = targetSums[k]! / count;
    const weights = substitute(
      factor,
      products.map((value, i) => value - mean * sum[i]!),
      width,
    );
    let offset = 0;
    for (let i = 0; i < width; i++) offset += (weights[i]! * sum[i]!) / count;
    return { constant: mean - offset, weights };
  });
}

/** Factors a positive definite matrix, lower triangle, in place. */
function cholesky(matrix: Float64Array, width: number): void {
  for (let i = 0; i < width; i++)
    for (let j = 0; j <= i; j++) {
      let value = matrix[i * width + j]!;
      for (let k = 0; k < j; k++) value -= matrix[i * width + k]! * matrix[j * width + k]!;
      matrix[i * width + j] = i === j ? Math.sqrt(value) : value / matrix[j * width + j]!;
    }
}

/** Solves with the factor, forward and back. */
function substitute(factor: Float64Array, right: Float64Array, width: number): Float64Array {
  const found = right.slice();
  for (let i = 0; i < width; i++) {
    for (let k = 0; k < i; k++) found[i]! -= factor[i * width + k]! * found[k]!;
    found[i]! /= factor[i * width + i]!;
  }
  for (let i = width - 1; i >= 0; i--) {
    for (let k = i + 1; k < width; k++) found[i]! -= factor[k * width + i]! * found[k]!;
    found[i]! /= factor[i * width + i]!;
  }
  return found;
}
