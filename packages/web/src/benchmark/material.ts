import { element } from '../dom.ts';
import { figureOf } from '../plot/figure.ts';
import { rowPlot } from '../plot/rows.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';
import { lostCases } from './cases.ts';
import { byBudget } from './choice.ts';
import type { Material, MaterialPart, MaterialRow } from './documents.ts';
import { count, estimate, percent, points, range, round, span, tierName } from './numbers.ts';

/** Tiers that are drawn; the table has all of them. */
const DRAWN = ['extractive', 'lines'];

/** Draws the results on material that others wrote: the held-out part by kind, the other part's table, and its losses. */
export function materialFigures({
  budgets,
  held_out: heldOut,
  development,
  worst_cases,
}: Material): HTMLElement {
  const { text } = prose;
  const other = element(
    'details',
    'more',
    element('summary', '', formatText(text.developmentTable, ...sizeOf(development))),
    byBudget('development', budgets, (budget) => figureAt(development, text.development, budgets, budget)),
  );
  return element(
    'div',
    'material',
    element('p', 'help', formatText(text.heldOutSize, ...sizeOf(heldOut))),
    byBudget('material', budgets, (budget) => figureAt(heldOut, text.heldOut, budgets, budget)),
    other,
    element('h3', '', text.lostOfDevelopment),
    lostCases(worst_cases),
  );
}

const sizeOf = ({ questions, files, sources, sha256 }: MaterialPart): string[] => [
  count(questions),
  count(files),
  count(sources),
  sha256.slice(0, 16),
];

function figureAt(
  { all, by, survive }: MaterialPart,
  part: string,
  budgets: readonly number[],
  budget: number,
): HTMLElement {
  const { text, columns } = prose;
  const at = budgets.indexOf(budget);
  const groups = [
    { heading: text.allMaterial, rows: [all] },
    { heading: prose.nodes.modality.heading, rows: worstFirst(by, at) },
    { heading: text.mustSurvive, rows: worstFirst(survive, at) },
  ];
  const rows = groups.flatMap(({ heading, rows: own }) => own.map((row) => ({ heading, row })));
  // Only German, French and Spanish have every tier.
  const tiers = [...new Set([all, ...by].flatMap((row) => row.tiers.map(({ tier }) => tier)))];
  const title = formatText(text.materialTitle, part, round(budget));
  return figureOf({
    title,
    note: text.materialNote,
    series: DRAWN.map((id) => ({ id, name: tierName(id) })),
    draw: (width) =>
      rowPlot(width, {
        rows: rows.map(({ heading, row }) => ({
          heading,
          name: row.kind,
          marks: DRAWN.map((id) => markOf(row, id, at)),
        })),
        mark: 'interval',
        ticks: [0, 0.25, 0.5, 0.75, 1],
        format: round,
        title: text.keptY,
      }),
    table: tableOf(
      title,
      [columns.kind, ...tiers.map(tierName), text.minusLines, columns.sources, columns.cases],
      rows.map(({ row }) => [
        row.kind,
        ...tiers.map((id) => cellOf(row, id, at)),
        differenceOf(row, at),
        count(row.sources),
        count(row.cases),
      ]),
    ),
  });
}

function worstFirst(rows: readonly MaterialRow[], at: number): MaterialRow[] {
  return rows.toSorted((a, b) => (a.tiers[0]?.kept[at] ?? 0) - (b.tiers[0]?.kept[at] ?? 0));
}

function resultOf({ tiers }: MaterialRow, id: string, at: number) {
  const own = tiers.find(({ tier }) => tier === id);
  const [kept, interval] = [own?.kept[at], own?.kept_ci95[at]];
  return kept === undefined || interval === undefined ? undefined : { kept, interval };
}

function markOf(row: MaterialRow, id: string, at: number) {
  const result = resultOf(row, id, at);
  return result === undefined ? null : estimate(result.kept, result.interval);
}

function cellOf(row: MaterialRow, id: string, at: number): Node | string {
  const result = resultOf(row, id, at);
  if (result === undefined) return prose.text.none;
  return element('span', '', percent(result.kept), element('span', 'ci', range(result.interval)));
}

function differenceOf({ minus_lines, minus_lines_ci95 }: MaterialRow, at: number): Node | string {
  const [difference, interval] = [minus_lines[at], minus_lines_ci95[at]];
  if (difference === undefined || interval === undefined) return prose.text.none;
  return element('span', '', points(difference), element('span', 'ci', span(interval, points)));
}
