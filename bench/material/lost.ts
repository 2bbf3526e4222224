import type { Outcome } from '../quality/grade.ts';

/** A question whose answer the extractive tier lost. */
export interface Lost {
  readonly id: string;
  readonly kind: string;
  /** Largest budget at which it is lost. */
  readonly budget: number;
  readonly question: string;
  readonly missing: readonly string[];
  readonly over_budget: boolean;
  /** Whether BM25 over lines kept it at that budget. */
  readonly lines_kept: boolean;
}

const EACH = 2;
/** Length in UTF-16 units to which a lost text is shown. */
const SHOWN = 300;

/** Of each kind of material two of the questions that are lost at the largest budgets; the kinds that lose most first. */
export function lostOf(outcomes: readonly Outcome[]): Lost[] {
  const keyOf = ({ question, budget }: Outcome): string => `${question.id} ${budget}`;
  const lines = new Map(outcomes.filter(({ tier }) => tier === 'lines').map((one) => [keyOf(one), one.kept]));
  const own = outcomes.filter(({ tier }) => tier === 'extractive');
  const kinds = [...Map.groupBy(own, ({ document }) => document.modality).values()]
    .map((all) => ({ all, share: all.filter(({ kept }) => kept < 1).length / all.length }))
    .toSorted((a, b) => b.share - a.share);
  return kinds.flatMap(({ all }) => {
    const lost = all.filter(({ kept }) => kept < 1);
    const first = [...Map.groupBy(lost, ({ question }) => question.id).values()].map((at) =>
      at.reduce((worst, one) => (one.budget > worst.budget ? one : worst)),
    );
    return first
      .toSorted((a, b) => b.budget - a.budget)
      .slice(0, EACH)
      .map((one) => ({
        id: one.question.id,
        kind: one.document.modality,
        budget: one.budget,
        question: one.question.question,
        missing: one.missing.map((text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)),
        over_budget: one.over,
        lines_kept: lines.get(keyOf(one)) === 1,
      }));
  });
}
