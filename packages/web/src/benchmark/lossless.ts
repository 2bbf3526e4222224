import { figureOf } from '../plot/figure.ts';
import { rowPlot } from '../plot/rows.ts';
import { roundTicks } from '../plot/scale.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { tableOf } from '../table.ts';
import { formatText } from '../words.ts';
import type { Lossless } from './documents.ts';
import { count, estimate, percent, round } from './numbers.ts';

/** Draws the savings of the lossless tier: for each kind from the worst document to the best. */
export function losslessFigure(kinds: readonly Lossless[]): HTMLElement {
  const { text, columns } = prose;
  return figureOf({
    title: text.losslessTitle,
    note: text.losslessNote,
    series: [],
    draw: (width) =>
      rowPlot(width, {
        rows: kinds.map(({ kind, ...saved }) => ({
          name: kind,
          marks: [estimate(saved.saved_median, [saved.saved_worst, saved.saved_best])],
        })),
        mark: 'range',
        ticks: roundTicks([0, 0.5, ...kinds.map(({ saved_best }) => saved_best)], 8),
        zero: 0,
        format: round,
        title: text.losslessX,
      }),
    table: tableOf(
      text.losslessTitle,
      [columns.kind, columns.worst, columns.median, columns.best, columns.decoded],
      kinds.map(({ kind, documents, decoded_equal, ...saved }) => [
        kind,
        percent(saved.saved_worst),
        percent(saved.saved_median),
        percent(saved.saved_best),
        formatText(text.of, count(decoded_equal), count(documents)),
      ]),
    ),
  });
}
