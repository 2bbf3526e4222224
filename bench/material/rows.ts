import { BUDGETS } from '../quality/document.ts';
import type { CutTier, Outcome } from '../quality/grade.ts';
import { interval, mean, type Observation } from '../quality/statistics.ts';

/** Results at 50, 25 and 10 % of the tokens, in this order. Shares are between 0 and 1. */
interface TierCells {
  readonly tier: CutTier;
  readonly kept: readonly number[];
  readonly kept_ci95: readonly (readonly [number, number])[];
  /** Cases over their budget; they count as lost. */
  readonly over_budget: readonly number[];
}

/** The results of a group of questions in every tier. */
export interface MaterialRow {
  readonly kind: string;
  readonly sources: number;
  readonly cases: number;
  readonly tiers: readonly TierCells[];
  /** Extractive minus BM25 over lines, question by question. */
  readonly minus_lines: readonly number[];
  readonly minus_lines_ci95: readonly (readonly [number, number])[];
}

/** What counts of an outcome: a share between 0 and 1, or null if there is nothing to count. */
export type Measure = (outcome: Outcome) => number | null;

const kept: Measure = (outcome) => outcome.kept;

/** The row of a group. Intervals are drawn over packages. */
export function rowOf(kind: string, outcomes: readonly Outcome[], measure: Measure = kept): MaterialRow {
  const observed = (tier: CutTier, budget: number): Observation[] =>
    outcomes.flatMap((one) => {
      const value = one.tier === tier && one.budget === budget ? measure(one) : null;
      return value === null ? [] : [{ cluster: one.question.source, value }];
    });
  // A tier that only some of the questions went through is none of all of them.
  const counts = Map.groupBy(outcomes, ({ tier }) => tier);
  const whole = [...counts.keys()].filter(
    (tier) => counts.get(tier)?.length === counts.get('extractive')?.length,
  );
  const tiers = whole.map((tier): TierCells => {
    const cells = BUDGETS.map((budget) => observed(tier, budget));
    return {
      tier,
      kept: cells.map(mean),
      kept_ci95: cells.map((own) => interval(own, 'material')),
      over_budget: BUDGETS.map(
        (budget) => outcomes.filter((one) => one.tier === tier && one.budget === budget && one.over).length,
      ),
    };
  });
  const paired = BUDGETS.map((budget) => differences(outcomes, budget, measure));
  return {
    kind,
    sources: new Set(outcomes.map(({ question }) => question.source)).size,
    cases: new Set(outcomes.map(({ question }) => question.id)).size,
    tiers,
    minus_lines: paired.map(mean),
    minus_lines_ci95: paired.map((own) => interval(own, 'paired')),
  };
}

function differences(outcomes: readonly Outcome[], budget: number, measure: Measure): Observation[] {
  const of = (tier: CutTier): Outcome[] =>
    outcomes.filter((one) => one.tier === tier && one.budget === budget);
  const lines = new Map(of('lines').map((one) => [one.question.id, measure(one)]));
  return of('extractive').flatMap((one) => {
    const [value, other] = [measure(one), lines.get(one.question.id) ?? null];
    return value === null || other === null ? [] : [{ cluster: one.question.source, value: value - other }];
  });
}

/** The rows of all groups, those that lose most in the extractive tier first. */
export function rowsOf(outcomes: readonly Outcome[], groupOf: (outcome: Outcome) => string): MaterialRow[] {
  const rows = [...Map.groupBy(outcomes, groupOf)].map(([kind, own]) => rowOf(kind, own));
  return rows.toSorted((a, b) => score(a) - score(b) || (a.kind < b.kind ? -1 : 1));
}

/** The sum of what the extractive tier keeps at the three budgets. */
function score({ tiers }: MaterialRow): number {
  const own = tiers.find(({ tier }) => tier === 'extractive');
  return own?.kept.reduce((sum, share) => sum + share, 0) ?? 0;
}
