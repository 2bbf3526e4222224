import type { NanoUsdc } from '@tallystick/ledger';
import type { CandidateRecord, RouteInputs } from './record.ts';
import type { DayBudget, Sort } from './sort.ts';

/** A candidate as a sort compares it. */
interface Sortable {
  readonly candidate: CandidateRecord;
  readonly cost: NanoUsdc;
  readonly quality: number;
}

/**
 * Compares candidates by the strategy's sort, the better first; 0 where the sort does not tell them apart. A model
 * without a measurement counts as the fastest that has one, so that it is tried, and measured, where it is else the
 * better choice.
 */
export function comparerOf(
  sort: Sort,
  candidates: readonly CandidateRecord[],
): (a: Sortable, b: Sortable) => number {
  switch (sort) {
    case 'balanced':
      return () => 0;
    case 'price':
      return (a, b) => Number(a.cost - b.cost);
    case 'quality':
      return (a, b) => b.quality - a.quality;
    case 'latency':
      return fastest(candidates, ({ first_token_ms: ms }) => ms);
    case 'throughput':
      return fastest(candidates, ({ tokens_per_second: rate }) => rate && -rate);
  }
}

/** @param measure smaller is better; undefined where nothing was measured */
function fastest(
  candidates: readonly CandidateRecord[],
  measure: (candidate: CandidateRecord) => number | undefined,
): (a: Sortable, b: Sortable) => number {
  const best = Math.min(...candidates.map((candidate) => measure(candidate) ?? Infinity));
  const of = ({ candidate }: Sortable): number => measure(candidate) ?? best;
  // With no measurement at all, both are Infinity.
  return (a, b) => (of(a) === of(b) ? 0 : of(a) - of(b));
}

/** One over the share of a day's budget in which the limit of a call falls. */
const FALLING_PART = 5n;

/**
 * The most that a call may be expected to cost under a budget of the day. Four fifths of the budget may be spent freely;
 * from there on the limit falls evenly from the dearest of the costs to the cheapest. It is never below the cheapest,
 * since a budget of routing refuses no call, nor, above that, more than what is left.
 * @param costs the expected costs of the candidates, at least one
 */
export function dayLimit({ per_day, spent }: DayBudget, costs: readonly NanoUsdc[]): NanoUsdc {
  const [budget, left] = [BigInt(per_day), BigInt(per_day) - BigInt(spent)];
  const [cheapest, dearest] = [least(costs), -least(costs.map((cost) => -cost))];
  if (left <= 0n) return cheapest;
  const falling = cheapest + ((dearest - cheapest) * FALLING_PART * left) / budget;
  const limit = falling < left ? falling : left;
  return limit > cheapest ? limit : cheapest;
}

/** The strategy to record: absent where it changes nothing. */
export function recorded(sort: Sort, budget: DayBudget | null): Pick<RouteInputs, 'strategy'> {
  if (sort === 'balanced' && budget === null) return {};
  return { strategy: { sort, ...(budget !== null && { budget }) } };
}

function least(values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (b < a ? b : a));
}
