/** Sums of a quantity whose past halves in weight with each half-life. */
export interface Sums {
  /** Number of observations, of which older ones count for less. */
  readonly weight: number;
  /** Sum of what was observed, weighted alike. */
  readonly sum: number;
}

/** Weight by bucket of a geometric scale (`bucketOf`). */
export type Spread = ReadonlyMap<number, number>;

/** The middle of a bucket is at most a tenth away from any value in it. */
const BUCKETS_PER_DOUBLING = 4;
/** Less than this is forgotten: ten half-lives after a single observation. */
const LEAST_WEIGHT = 0.001;

/** What is left of a weight after some seconds; time that runs backwards takes nothing away. */
export function share(seconds: number, halfLife: number): number {
  return 2 ** (-Math.max(0, seconds) / halfLife);
}

/** Both together, each taken by its share; undefined where next to nothing is left. */
export function addSums(
  one: Sums | undefined,
  oneShare: number,
  other: Sums | undefined,
  otherShare: number,
): Sums | undefined {
  const weight = (one?.weight ?? 0) * oneShare + (other?.weight ?? 0) * otherShare;
  if (weight < LEAST_WEIGHT) return undefined;
  return { weight, sum: (one?.sum ?? 0) * oneShare + (other?.sum ?? 0) * otherShare };
}

/** @param value above 0 */
export function bucketOf(value: number): number {
  return Math.round(BUCKETS_PER_DOUBLING * Math.log2(value));
}

/** The median, exact to a tenth; null of nothing. */
export function medianOf(spread: Spread): number | null {
  const buckets = [...spread].toSorted(([a], [b]) => a - b);
  const half = buckets.reduce((total, [, weight]) => total + weight, 0) / 2;
  let passed = 0;
  for (const [bucket, weight] of buckets) {
    passed += weight;
    if (passed >= half) return 2 ** (bucket / BUCKETS_PER_DOUBLING);
  }
  return null;
}

export function addSpread(
  one: Spread,
  oneShare: number,
  other: Spread,
  otherShare: number,
): Map<number, number> {
  const both = new Map<number, number>();
  for (const [spread, part] of [
    [one, oneShare],
    [other, otherShare],
  ] as const)
    for (const [bucket, weight] of spread) both.set(bucket, (both.get(bucket) ?? 0) + weight * part);
  for (const [bucket, weight] of both) if (weight < LEAST_WEIGHT) both.delete(bucket);
  return both;
}
