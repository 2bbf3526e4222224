import { bottomAxis, type Plane } from './axes.ts';
import { canvasOf, seriesClass } from './figure.ts';
import type { Estimate } from './lines.ts';
import { bar, interval, point, stroke } from './marks.ts';
import { linearScale, type Scale } from './scale.ts';
import { group, label, svg, widthOf } from './svg.ts';

/** A name and its marks. The index of a mark is that of its series. */
interface Row {
  readonly name: string;
  /** Heading above the first of the rows that share it. */
  readonly heading?: string;
  readonly marks: readonly (Estimate | null)[];
}

interface RowPlot {
  readonly rows: readonly Row[];
  /** `interval`: a point within its interval; `range`: a bar from low to high with a stroke at the value. */
  readonly mark: 'interval' | 'range';
  readonly ticks: readonly number[];
  readonly zero?: number;
  readonly format: (value: number) => string;
  readonly title: string;
}

/** Least room in pixels beside the names; with less, each name stands above its marks. */
const LEAST_ROOM = 320;
const LETTER = 7.8;
/** Height in pixels for each mark of a row. */
const LANE = 12;
const HEADING = 30;

/** Draws rows of horizontal marks. */
export function rowPlot(width: number, plot: RowPlot): SVGElement {
  const { rows, ticks, format, title, zero } = plot;
  const names =
    widthOf(
      rows.map(({ name }) => name),
      LETTER,
    ) + 16;
  const gutter = width - names < LEAST_ROOM ? 0 : names;
  const nameHeight = gutter === 0 ? 22 : 0;
  const placed: SVGElement[] = [];
  const plane = { left: gutter + 18, right: width - 22, top: 4 };
  const scale = linearScale([ticks[0] ?? 0, ticks.at(-1) ?? 1], [plane.left, plane.right], ticks);
  let y = plane.top;
  let heading: string | undefined;
  for (const row of rows) {
    if (row.heading !== undefined && row.heading !== heading) {
      placed.push(label(row.heading, { x: 0, y: y + 20 }, 'row-heading'));
      y += HEADING;
    } else if (y > plane.top && row.marks.length > 1)
      placed.push(svg('line', { class: 'row-line', x1: 0, x2: width, y1: y, y2: y }));
    heading = row.heading;
    const height = Math.max(row.marks.length * LANE + 14, 30);
    placed.push(
      rowOf(row, plot.mark, scale, { gutter, left: plane.left, top: y, middle: y + nameHeight + height / 2 }),
    );
    y += nameHeight + height;
  }
  const whole: Plane = { ...plane, bottom: y + 4 };
  const axis = bottomAxis(whole, { scale, format, title, ...(zero === undefined ? {} : { zero }) });
  return canvasOf(width, whole.bottom + 50, axis, ...placed);
}

interface RowPosition {
  /** Width for the names, or 0 if they stand above their marks. */
  readonly gutter: number;
  /** Left end of the scale. */
  readonly left: number;
  readonly top: number;
  /** Vertical middle of the marks. */
  readonly middle: number;
}

function rowOf(
  { name, marks }: Row,
  kind: RowPlot['mark'],
  scale: Scale,
  { gutter, left, top, middle }: RowPosition,
): SVGElement {
  const words =
    gutter === 0
      ? label(name, { x: left + 5, y: top + 18 }, 'row-name')
      : label(name, { x: gutter - 8, y: middle + 4, anchor: 'end' }, 'row-name');
  const drawn = marks.flatMap((estimate, index) => {
    if (estimate === null) return [];
    const y = middle + (index - (marks.length - 1) / 2) * LANE;
    return [group(seriesClass(index), ...markOf(estimate, kind, index, scale, y))];
  });
  return svg('g', { class: 'row-of', 'data-row': name }, words, ...drawn);
}

function markOf(
  { value, low, high }: Estimate,
  kind: RowPlot['mark'],
  index: number,
  scale: Scale,
  y: number,
): SVGElement[] {
  const x = scale(value);
  if (kind === 'range') return [bar(scale(low), scale(high), y, 14), stroke({ x, y }, 22)];
  return [interval({ x: scale(low), y }, { x: scale(high), y }), point({ x, y }, index)];
}
