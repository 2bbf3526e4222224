import { leftAxis, type Plane } from './axes.ts';
import { canvasOf, seriesClass } from './figure.ts';
import { linearScale, roundTicks } from './scale.ts';
import { group, label, svg, widthOf } from './svg.ts';

interface ColumnPlot {
  /** Columns from left to right; the values of a column are stacked in the order of the series. */
  readonly columns: readonly { readonly name: string; readonly values: readonly number[] }[];
  readonly format: (tick: number) => string;
  readonly title: string;
}

const HEIGHT = 280;
const LETTER = 7.4;
const WIDEST = 44;
const TICKS = 4;

/** Draws columns from zero. If there is no room for every name below, only some are shown. */
export function columnPlot(width: number, { columns, format, title }: ColumnPlot): SVGElement {
  const totals = columns.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const ticks = roundTicks([0, ...totals], TICKS);
  const left = widthOf(ticks.map(format), LETTER) + 14;
  const room = widthOf(
    columns.map(({ name }) => name),
    LETTER,
  );
  const count = Math.max(columns.length, 1);
  // The name below the last column may be wider than the column.
  const over = Math.max((room - (width - left) / count) / 2, 4);
  const plane: Plane = { left, right: width - over, top: 34, bottom: HEIGHT - 34 };
  const y = linearScale([0, ticks.at(-1) ?? 1], [plane.bottom, plane.top], ticks);
  const step = (plane.right - plane.left) / count;
  const thickness = Math.min(step * 0.72, WIDEST);
  const every = Math.max(Math.ceil((room + 10) / step), 1);
  const drawn = columns.map(({ name, values }, index) => {
    const x = plane.left + step * (index + 0.5);
    let below = 0;
    const parts = values.map((value, series) => {
      const bottom = y(below);
      below += value;
      const height = bottom - y(below);
      const place = { x: x - thickness / 2, y: y(below), width: thickness, height };
      return group(
        seriesClass(series),
        svg('rect', { class: 'column', 'data-value': String(value), ...place }),
      );
    });
    const named = (columns.length - 1 - index) % every === 0;
    const words = named ? [label(name, { x, y: plane.bottom + 20, anchor: 'middle' })] : [];
    return svg('g', { class: 'column-of', 'data-column': name }, ...parts, ...words);
  });
  return canvasOf(width, HEIGHT, leftAxis(plane, { scale: y, format, title, zero: 0 }), ...drawn);
}
