/** A unit with its price and its worth, as the selection sees it. */
export interface Choice {
  readonly tokens: number;
  /** Value of keeping it, relative to its price. */
  readonly worth: number;
  /** Value of keeping it, relative to its price with that of the headings above it. */
  readonly priced: number;
  /** Index of its block; gaps are counted within a block. */
  readonly block: number;
  /** Index of the heading that must be kept with it, if any. */
  readonly heading: number | undefined;
  /** Whether it is kept whatever it costs. */
  readonly fixed: boolean;
}

/**
 * Chooses the units to keep for at most `budget` tokens, marks for gaps at `gap` tokens each included: units are tried
 * in `order`, and each that still fits is kept. A unit whose headings are not kept waits until one of them is, or until its worth with
 * their price comes.
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
  const waiting = new Map<number, number[]>();
  const keep = (i: number, above: readonly number[]): void => {
    // Each heading adds at most one more gap.
    const price = above.reduce(
      (sum, one) => sum + (choices[one]?.tokens ?? 0) + gap,
      (choices[i]?.tokens ?? 0) + gap * gapsAdded(i),
    );
    if (price > left) return;
    for (const one of [i, ...above]) kept[one] = true;
    left -= price;
    for (const heading of above)
      for (const under of waiting.get(heading) ?? [])
        if (kept[under] !== true && headingsAbove(under).length === 0) keep(under, []);
  };
  for (const entry of order) {
    const i = entry % choices.length;
    if (kept[i] === true) continue;
    const above = headingsAbove(i);
    const [nearest] = above;
    if (nearest === undefined || entry >= choices.length) keep(i, above);
    else waiting.set(nearest, [...(waiting.get(nearest) ?? []), i]);
  }
  return kept;
}

/** Steps to which worths are rounded, because engines differ in the last bits of a logarithm. */
const STEPS = 2 ** 24;

/**
 * Returns the indices ordered by worth; of equals, the earlier comes first. A unit that has a heading comes again, with the number
 * of choices added to its index, where its worth with the heading's price has its place.
 */
export function ranked(choices: readonly Choice[]): number[] {
  const all = [...choices.map(({ worth }) => worth), ...choices.map(({ priced }) => priced)];
  const worths = Float64Array.from(all, (worth) => Math.round(worth * STEPS));
  return all
    .map((_, i) => i)
    .filter((i) => i < choices.length || choices[i - choices.length]?.heading !== undefined)
    .sort((a, b) => (worths[b] ?? 0) - (worths[a] ?? 0) || a - b);
}
