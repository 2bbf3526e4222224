import { figureOf } from '../plot/figure.ts';
import { linePlot } from '../plot/lines.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';
import type { NodeSummary, TierResult } from './documents.ts';
import { count, distinct, estimate, percent, round, span, tierName } from './numbers.ts';

/** Draws the share of questions that survive at each budget, by tier. */
export function survivalFigure(name: string, { tiers }: NodeSummary): HTMLElement {
  const { text, columns } = prose;
  const budgets = distinct(tiers.map(({ budget }) => budget)).sort((a, b) => b - a);
  const series = distinct(tiers.map(({ tier }) => tier)).map((id) => ({
    id,
    name: tierName(id),
    points: atBudgets(tiers, id, budgets).map(({ budget, kept, kept_ci95 }) => ({
      x: budget,
      ...estimate(kept, kept_ci95),
    })),
  }));
  const rows = series.flatMap(({ id }) => atBudgets(tiers, id, budgets).map(rowOf));
  const title = formatText(text.keptTitle, name);
  return figureOf({
    title,
    note: formatText(text.keptNote, count(tiers[0]?.cases ?? 0)),
    series,
    draw: (width) =>
      linePlot(width, {
        series,
        xs: budgets,
        xTitle: text.keptX,
        yTitle: text.keptY,
        yTicks: [0, 0.2, 0.4, 0.6, 0.8, 1],
        format: round,
        formatEnd: percent,
        formatX: round,
      }),
    table: tableOf(title, [columns.tier, columns.budget, columns.kept, columns.ci95, columns.left], rows),
  });
}

function atBudgets(tiers: readonly TierResult[], id: string, budgets: readonly number[]): TierResult[] {
  return budgets.flatMap((at) => tiers.filter(({ tier, budget }) => tier === id && budget === at));
}

function rowOf({ tier, budget, kept, kept_ci95, ...result }: TierResult): string[] {
  const left = percent(result.tokens_after / result.tokens_before);
  const over = result.over_budget === 0 ? '' : ` (${formatText(prose.text.over, result.over_budget)})`;
  return [tierName(tier), round(budget), percent(kept), span(kept_ci95), left + over];
}
