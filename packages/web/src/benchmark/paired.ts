import { figureOf } from '../plot/figure.ts';
import { rowPlot } from '../plot/rows.ts';
import { roundTicks } from '../plot/scale.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';
import { NODES, type Paired, type Summary } from './documents.ts';
import { count, estimate, points, pointsTick, round, span, tierName } from './numbers.ts';

/** Draws how much more survives with one tier than with another, question by question. */
export function pairedFigure({ nodes }: Summary): HTMLElement {
  const { text, columns } = prose;
  const pairs = NODES.flatMap((node) => nodes[node].paired.map((pair) => ({ node, ...pair })));
  const { a = '', b = '' } = pairs[0] ?? {};
  const title = formatText(text.pairedTitle, tierName(a), tierName(b));
  const ends = pairs.flatMap(({ ci95 }) => ci95);
  return figureOf({
    title,
    note: text.pairedNote,
    series: [],
    draw: (width) =>
      rowPlot(width, {
        rows: pairs.map(({ node, budget, difference, ci95 }) => ({
          heading: prose.nodes[node].title,
          name: formatText(text.ofTokens, round(budget)),
          marks: [estimate(difference, ci95)],
        })),
        mark: 'interval',
        ticks: roundTicks([0, ...ends], width < 500 ? 4 : 8),
        zero: 0,
        format: pointsTick,
        title: text.pairedX,
      }),
    table: tableOf(
      title,
      [
        columns.what,
        columns.budget,
        columns.difference,
        columns.ci95,
        formatText(columns.only, tierName(a)),
        formatText(columns.only, tierName(b)),
        columns.cases,
      ],
      pairs.map(({ node, ...pair }) => [prose.nodes[node].short, ...cellsOf(pair)]),
    ),
  });
}

function cellsOf({ budget, difference, ci95, a_only, b_only, cases }: Paired): string[] {
  return [round(budget), points(difference), span(ci95, points), count(a_only), count(b_only), count(cases)];
}
