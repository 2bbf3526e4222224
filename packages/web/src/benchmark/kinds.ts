import { element } from '../dom.ts';
import { figureOf } from '../plot/figure.ts';
import { rowPlot } from '../plot/rows.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText, lookUp } from '../words.ts';
import { byBudget } from './choice.ts';
import type { KindResult, NodeDocument, NodeName } from './documents.ts';
import { count, distinct, estimate, percent, range, round, tierName } from './numbers.ts';

/** Draws the survival of each kind of text or question, and by wording, at a budget that the reader chooses. */
export function kindsFigure(node: NodeName, document: NodeDocument): HTMLElement {
  const budgets = distinct(document.by.map(({ budget }) => budget)).sort((a, b) => b - a);
  return byBudget(node, budgets, (budget) => figureAt(node, document, budget));
}

function figureAt(node: NodeName, { by, by_wording }: NodeDocument, budget: number): HTMLElement {
  const { text, columns, nodes, wordings } = prose;
  const at = ({ budget: own }: KindResult): boolean => own === budget;
  const tiers = distinct(by.filter(at).map(({ tier }) => tier));
  const series = tiers.map((id) => ({ id, name: tierName(id) }));
  const rows = [
    ...rowsOf(by.filter(at), tiers, nodes[node].heading, {}),
    ...rowsOf(by_wording.filter(at), tiers, text.byWording, wordings),
  ];
  const title = formatText(text.kindsTitle, nodes[node].kinds, round(budget));
  return figureOf({
    title,
    note: text.kindsNote,
    series,
    draw: (width) =>
      rowPlot(width, {
        rows: rows.map(({ heading, name, cells }) => ({
          heading,
          name,
          marks: cells.map((cell) => (cell === undefined ? null : estimate(cell.kept, cell.kept_ci95))),
        })),
        mark: 'interval',
        ticks: [0, 0.25, 0.5, 0.75, 1],
        format: round,
        title: text.keptY,
      }),
    table: tableOf(
      title,
      [columns.kind, ...series.map(({ name }) => name), columns.cases],
      rows.map(({ name, cells }) => [name, ...cells.map(cellOf), count(cells[0]?.cases ?? 0)]),
    ),
  });
}

interface KindRow {
  readonly heading: string;
  readonly name: string;
  /** The results of a row, one for each tier. */
  readonly cells: readonly (KindResult | undefined)[];
}

/** The rows of the kinds, that with the least kept in the first tier first. */
function rowsOf(
  results: readonly KindResult[],
  tiers: readonly string[],
  heading: string,
  names: Readonly<Record<string, string>>,
): KindRow[] {
  const rows = distinct(results.map(({ kind }) => kind)).map((kind) => {
    const own = results.filter((one) => one.kind === kind);
    const cells = tiers.map((id) => own.find(({ tier }) => tier === id));
    return { heading, name: lookUp(names, kind) ?? kind, cells };
  });
  return rows.toSorted(({ cells: [a] }, { cells: [b] }) => (a?.kept ?? 0) - (b?.kept ?? 0));
}

function cellOf(cell: KindResult | undefined): Node | string {
  if (cell === undefined) return prose.text.none;
  return element('span', '', percent(cell.kept), element('span', 'ci', range(cell.kept_ci95)));
}
