import { Random } from './random.ts';

const RESAMPLES = 2000;

/** Rounds to four places, so that the last bits of a sum do not change what is printed. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

/** A value, and the cluster that it belongs to. */
export interface Observation {
  readonly cluster: string;
  readonly value: number;
}

export function mean(observations: readonly Observation[]): number {
  return rounded(observations.reduce((sum, { value }) => sum + value, 0) / Math.max(1, observations.length));
}

/**
 * 95 % interval of the mean by the percentile bootstrap over clusters: the results of questions on one text depend on each other,
 * so texts are drawn, not questions (Cameron, Gelbach and Miller 2008, section II).
 */
export function interval(observations: readonly Observation[], seed: string): [number, number] {
  const clusters = [...Map.groupBy(observations, ({ cluster }) => cluster).values()].map((own) => ({
    count: own.length,
    sum: own.reduce((sum, { value }) => sum + value, 0),
  }));
  const random = new Random(seed);
  const means = Array.from({ length: RESAMPLES }, () => {
    let count = 0;
    let sum = 0;
    for (let i = 0; i < clusters.length; i++) {
      const drawn = random.pick(clusters);
      count += drawn.count;
      sum += drawn.sum;
    }
    return sum / Math.max(1, count);
  });
  return [rounded(quantile(means, 0.025)), rounded(quantile(means, 0.975))];
}
