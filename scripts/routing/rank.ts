/** Ranks from 0; equal values share the mean of theirs. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).toSorted((a, b) => values[a]! - values[b]!);
  const found: number[] = values.map(() => 0);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end < order.length && values[order[end]!] === values[order[start]!]) end++;
    for (const index of order.slice(start, end)) found[index] = (start + end - 1) / 2;
    start = end;
  }
  return found;
}

/** Spearman's rank correlation. */
export function spearman(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const mean = (x.length - 1) / 2;
  let [product, squareX, squareY] = [0, 0, 0];
  for (const [index, rank] of x.entries()) {
    product += (rank - mean) * (y[index]! - mean);
    squareX += (rank - mean) ** 2;
    squareY += (y[index]! - mean) ** 2;
  }
  return product / Math.sqrt(squareX * squareY);
}

/** The chance that a score of a marked one is above that of one which is not (area under the ROC curve). */
export function auc(scores: readonly number[], marked: readonly boolean[]): number {
  const all = ranks(scores);
  let [count, sum] = [0, 0];
  for (const [index, rank] of all.entries())
    if (marked[index]) {
      count++;
      sum += rank;
    }
  return (sum - (count * (count - 1)) / 2) / (count * (all.length - count));
}
