/** Maps a quantity to a position in pixels. */
export interface Scale {
  (value: number): number;
  /** Values at which axis lines and labels are drawn, in the quantity's own unit. */
  readonly ticks: readonly number[];
}

type Span = readonly [from: number, to: number];

/** A scale of equal steps. The range may run in either direction. */
export function linearScale([from, to]: Span, [start, end]: Span, ticks: readonly number[]): Scale {
  const at = (value: number): number => start + ((value - from) / (to - from || 1)) * (end - start);
  return Object.assign(at, { ticks });
}

/** A scale of equal ratios: 10, 20 and 40 are equally far apart. Values must be above 0. */
export function logScale([from, to]: Span, range: Span, ticks: readonly number[]): Scale {
  const linear = linearScale([Math.log(from), Math.log(to)], range, ticks);
  return Object.assign((value: number) => linear(Math.log(value)), { ticks });
}

/**
 * Round ticks that cover all of the values: multiples of 1, 2, 2.5 or 5 times a power of ten.
 * @param count most steps
 */
export function roundTicks(values: readonly number[], count: number): number[] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const raw = (high - low || Math.abs(high) || 1) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  for (const multiple of [1, 2, 2.5, 5, 10, 20]) {
    const step = multiple * power;
    const first = Math.floor(low / step + EPSILON);
    const last = Math.ceil(high / step - EPSILON);
    if (last - first > count) continue;
    const steps = Array.from({ length: Math.max(last - first, 1) + 1 }, (_, index) => first + index);
    return steps.map((index) => Number((index * step).toPrecision(12)));
  }
  return [low, high];
}

/** Tolerance for rounding: 0.3 / 0.1 is a little under 3. */
const EPSILON = 1e-9;
