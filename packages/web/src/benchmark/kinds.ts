import { element, on } from '../dom.ts';
import { figureOf } from '../plot/figure.ts';
import { rowPlot } from '../plot/rows.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText, lookUp } from '../words.ts';
import type { KindResult, NodeDocument, NodeName } from './documents.ts';
import { count, distinct, estimate, percent, range, round, tierName } from './numbers.ts';

/** Draws the survival of each kind of text or question, and by wording, at a budget that the reader chooses. */
export function kindsFigure(node: NodeName, document: NodeDocument): HTMLElement {
  const budgets = distinct(document.by.map(({ budget }) => budget)).sort((a, b) => b - a);
  const chosen = budgets[Math.floor(budgets.length / 2)] ?? 0;
  const show = (budget: number): HTMLElement => figureAt(node, document, budget);
  let shown = show(chosen);
  const choice = choiceOf(node, budgets, chosen, (budget) => {
    const next = show(budget);
    shown.replaceWith(next);
    shown = next;
  });
  return element('div', 'kinds', choice, shown);
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

function rowsOf(
  results: readonly KindResult[],
  tiers: readonly string[],
  heading: string,
  names: Readonly<Record<string, string>>,
): KindRow[] {
  return distinct(results.map(({ kind }) => kind)).map((kind) => {
    const own = results.filter((one) => one.kind === kind);
    const cells = tiers.map((id) => own.find(({ tier }) => tier === id));
    return { heading, name: lookUp(names, kind) ?? kind, cells };
  });
}

function cellOf(cell: KindResult | undefined): Node | string {
  if (cell === undefined) return prose.text.none;
  return element('span', '', percent(cell.kept), element('span', 'ci', range(cell.kept_ci95)));
}

/** Choice between the budgets, as native radio buttons. */
function choiceOf(
  node: NodeName,
  budgets: readonly number[],
  chosen: number,
  choose: (budget: number) => void,
): HTMLElement {
  const legend = element('legend', '', prose.text.budget);
  const options = budgets.map((budget) => {
    const input = document.createElement('input');
    input.type = 'radio';
    input.name = `budget-${node}`;
    input.checked = budget === chosen;
    on(input, 'change', () => choose(budget));
    return element('label', '', input, element('span', '', round(budget)));
  });
  return element('fieldset', 'choice', legend, ...options);
}
