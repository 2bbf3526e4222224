import type { Graded } from './curve.ts';
import { random } from './random.ts';

const RESAMPLES = 2_000;
const SEED = 1;

/**
 * The middle 95% of the area (`apgr`) over resamples of whole units, drawn with replacement.
 * @param units the unit of each row, such as its group of near-duplicates
 * @returns the lower and the upper end
 */
export function interval(
  scores: Float64Array,
  graded: readonly Graded[],
  units: readonly string[],
): [number, number] {
  const order = Array.from(scores.keys()).sort((a, b) => scores[b]! - scores[a]!);
  const numbers = new Map([...new Set(units)].map((unit, index) => [unit, index]));
  const unitAt = Int32Array.from(order, (row) => numbers.get(units[row]!)!);
  const gains = Float64Array.from(order, (row) => graded[row]!.strong - graded[row]!.weak);
  const ties = Uint8Array.from(order, (row, place) =>
    Number(place > 0 && scores[row] === scores[order[place - 1]!]),
  );
  const next = random(SEED);
  const areas = Float64Array.from({ length: RESAMPLES }, () => {
    const times = new Int32Array(numbers.size);
    for (let i = 0; i < times.length; i++) times[Math.floor(next() * times.length)]! += 1;
    return weightedArea(gains, ties, unitAt, times);
  }).sort();
  return [areas[Math.floor(0.025 * RESAMPLES)]!, areas[Math.floor(0.975 * RESAMPLES)]!];
}

/** `apgr` with each row counted as often as its unit was drawn. */
function weightedArea(gains: Float64Array, ties: Uint8Array, unitAt: Int32Array, times: Int32Array): number {
  let count = 0;
  let gained = 0;
  let area = 0;
  for (let start = 0; start < gains.length; ) {
    let drawn = 0;
    let gain = 0;
    let end = start;
    do {
      const weight = times[unitAt[end]!]!;
      drawn += weight;
      gain += weight * gains[end]!;
      end++;
    } while (ties[end] === 1);
    area += drawn * (gained + gain / 2);
    gained += gain;
    count += drawn;
    start = end;
  }
  return area / count / gained;
}
