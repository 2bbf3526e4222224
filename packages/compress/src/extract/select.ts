/** A unit with its price and its worth, as the selection sees it. */
export interface Choice {
  readonly tokens: number;
  /** Value of keeping it, relative to its price. */
  readonly worth: number;
  /** Index of its block; gaps are counted within a block. */
  readonly block: number;
  /** Index of the heading that must be kept with it, if any. */
  readonly heading: number | undefined;
  /** Whether it is kept whatever it costs. */
  readonly fixed: boolean;
}

/**
 * Chooses the units to keep for at most `budget` tokens, marks for gaps at `gap` tokens each included: units are tried
 * in `order`, and each that still fits is kept.
 */
export function select(
  choices: readonly Choice[],
  order: readonly number[],
  budget: number,
  gap: number,
): boolean[] {
  const kept = choices.map(({ fixed }) => fixed);
  const same = (a: number, b: number): boolean => choices[a]?.block === choices[b]?.block;
  const isKept = (i: number, from: number): boolean => kept[i] === true || !same(i, from);
  /** Number of gaps that keeping `i` adds: it may split, shorten or close the gap that it lies in. */
  const gapsAdded = (i: number): number => (isKept(i - 1, i) ? 0 : 1) + (isKept(i + 1, i) ? 0 : 1) - 1;
  /** The headings that keeping `i` adds, from the nearest up. */
  const headingsAbove = (i: number): number[] => {
    const above: number[] = [];
    for (let up = choices[i]?.heading; up !== undefined && kept[up] !== true; up = choices[up]?.heading)
      above.push(up);
    return above;
  };
  let left = budget;
  let inGap = false;
  for (const [i, { tokens }] of choices.entries()) {
    if (kept[i] === true) left -= tokens;
    else if (!inGap || !same(i - 1, i)) left -= gap;
    inGap = kept[i] !== true;
  }
  for (const i of order) {
    if (kept[i] === true) continue;
    const above = headingsAbove(i);
    // Each heading adds at most one more gap.
    const price = above.reduce(
      (sum, one) => sum + (choices[one]?.tokens ?? 0) + gap,
      (choices[i]?.tokens ?? 0) + gap * gapsAdded(i),
    );
    if (price > left) continue;
    for (const one of [i, ...above]) kept[one] = true;
    left -= price;
  }
  return kept;
}

/** Steps to which worths are rounded, because engines differ in the last bits of a logarithm. */
const STEPS = 2 ** 24;

/** Returns the indices ordered by worth; of equals, the earlier comes first. */
export function ranked(choices: readonly Choice[]): number[] {
  const worths = Float64Array.from(choices, ({ worth }) => Math.round(worth * STEPS));
  return choices.map((_, i) => i).sort((a, b) => (worths[b] ?? 0) - (worths[a] ?? 0) || a - b);
}
