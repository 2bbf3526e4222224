/** A unit with its price and its worth, as the selection sees it. */
export interface Choice {
  readonly tokens: number;
  /** Value of keeping it, relative to its price. */
  readonly worth: number;
  /** Its block; gaps are counted within a block. */
  readonly block: number;
  /** Index of the heading that stays with it, if any. */
  readonly heading: number | undefined;
  /** Kept whatever it costs. */
  readonly fixed: boolean;
}

/**
 * Which units are kept for at most `budget` tokens, marks for the gaps at `gap` tokens each included: those first in
 * `order` first, and then what still fits.
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
  /** Gaps that keeping `i` adds: it splits, shortens or closes the one that it lies in. */
  const gapsAdded = (i: number): number => (isKept(i - 1, i) ? 0 : 1) + (isKept(i + 1, i) ? 0 : 1) - 1;
  let left = budget;
  let inGap = false;
  for (const [i, { tokens }] of choices.entries()) {
    if (kept[i] === true) left -= tokens;
    else if (!inGap || !same(i - 1, i)) left -= gap;
    inGap = kept[i] !== true;
  }
  for (const i of order) {
    if (kept[i] === true) continue;
    const { tokens, heading } = choices[i] ?? { tokens: 0, heading: undefined };
    const withHeading = heading !== undefined && kept[heading] !== true;
    // The heading's own effect on gaps is bounded by one more.
    const price = tokens + gap * gapsAdded(i) + (withHeading ? (choices[heading]?.tokens ?? 0) + gap : 0);
    if (price > left) continue;
    kept[i] = true;
    if (withHeading) kept[heading] = true;
    left -= price;
  }
  return kept;
}

/** Engines differ in the last bits of a logarithm: worths that are this near to one another are equal. */
const STEPS = 2 ** 24;

/** Returns the indices ordered by worth, the earlier of equals first. */
export function ranked(choices: readonly Choice[]): number[] {
  const worths = Float64Array.from(choices, ({ worth }) => Math.round(worth * STEPS));
  return choices.map((_, i) => i).sort((a, b) => (worths[b] ?? 0) - (worths[a] ?? 0) || a - b);
}
