import { sha256, utf8 } from '@tallystick/core';

/** A number that follows from the seed and the label alone, evenly spread over 0 (included) to 1 (excluded). */
export function uniform(seed: string, label: string): number {
  const digest = sha256(utf8(`${seed}\n${label}`));
  const [first, second] = [digest.subarray(0, 3), digest.subarray(3, 6)].map((bytes) =>
    bytes.reduce((sum, byte) => sum * 256 + byte, 0),
  );
  return ((first ?? 0) * 2 ** 24 + (second ?? 0)) / 2 ** 48;
}

/**
 * A number between 0 and 1 that is distributed by Beta(a, b), and follows from the seed and the label alone.
 * @param a above 0 @param b above 0
 */
export function beta(a: number, b: number, seed: string, label: string): number {
  let drawn = 0;
  const next = (): number => {
    drawn += 1;
    return uniform(seed, `${label}\n${drawn}`);
  };
  const one = gamma(a, next);
  return one / (one + gamma(b, next));
}

/** Marsaglia and Tsang, “A simple method for generating gamma variables”, 2000. */
function gamma(shape: number, next: () => number): number {
  if (shape < 1) return gamma(shape + 1, next) * next() ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(next);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Box and Muller. */
function normal(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}
