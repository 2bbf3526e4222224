import { apart } from './apart.ts';
import { bottomAxis, leftAxis, type Plane } from './axes.ts';
import { canvasOf, type Series, seriesClass } from './figure.ts';
import { interval, line, point } from './marks.ts';
import { linearScale, logScale, type Scale } from './scale.ts';
import { group, label, svg, widthOf } from './svg.ts';

/** A value with its interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

interface LinePlot {
  readonly series: readonly (Series & { readonly points: readonly (Estimate & { readonly x: number })[] })[];
  /** Positions of the points from left to right; they are spaced by their ratios. */
  readonly xs: readonly number[];
  readonly xTitle: string;
  readonly yTitle: string;
  readonly yTicks: readonly number[];
  readonly format: (tick: number) => string;
  /** Formats the value at the end of each line. */
  readonly formatEnd: (value: number) => string;
  readonly formatX: (tick: number) => string;
}

const HEIGHT = 380;
/** Largest share of the width that names at the lines' ends may take; beyond it, they are left out. */
const NAMES_SHARE = 0.35;
/** Distance in pixels between intervals at the same x. */
const DODGE = 9;
const LINE_HEIGHT = 17;
const BOLD_LETTER = 9;

/** Draws one line for each series, with intervals, and with names at the right ends if there is room. */
export function linePlot(width: number, plot: LinePlot): SVGElement {
  const { series, xs, yTicks } = plot;
  const ends = endsOf(plot);
  const names =
    widthOf(
      ends.map(({ text }) => text),
      BOLD_LETTER,
    ) + 12;
  const roomy = names <= width * NAMES_SHARE;
  const plane: Plane = { left: 46, right: width - (roomy ? names : 14), top: 34, bottom: HEIGHT - 50 };
  const side = 14 + (DODGE * series.length) / 2;
  const x = logScale([xs[0] ?? 1, xs.at(-1) ?? 2], [plane.left + side, plane.right - side], xs);
  const y = linearScale([yTicks[0] ?? 0, yTicks.at(-1) ?? 1], [plane.bottom, plane.top], yTicks);
  const lines = series.map((one, index) => drawSeries(one, index, series.length, x, y));
  return canvasOf(
    width,
    HEIGHT,
    leftAxis(plane, { scale: y, format: plot.format, title: plot.yTitle }),
    bottomAxis(plane, { scale: x, format: plot.formatX, title: plot.xTitle }),
    // The first series, which the plot is about, is drawn over the others.
    ...lines.toReversed(),
    ...(roomy ? endLabels(ends, plane, y) : []),
  );
}

function drawSeries(
  { id, points }: LinePlot['series'][number],
  index: number,
  count: number,
  x: Scale,
  y: Scale,
): SVGElement {
  const shift = (index - (count - 1) / 2) * DODGE;
  const places = points.map((one) => ({ x: x(one.x) + shift, y: y(one.value) }));
  const marks = points.map((one, at) => {
    const place = places[at] ?? { x: 0, y: 0 };
    return svg(
      'g',
      { class: 'mark-of', 'data-x': String(one.x) },
      interval({ x: place.x, y: y(one.low) }, { x: place.x, y: y(one.high) }),
      point(place, index),
    );
  });
  const drawn = group(seriesClass(index), line(places), ...marks);
  drawn.setAttribute('data-series', id);
  return drawn;
}

interface End {
  readonly series: number;
  readonly value: number;
  readonly text: string;
}

/** The end of each line, with its name and value. */
function endsOf({ series, formatEnd }: LinePlot): End[] {
  return series.flatMap(({ name, points }, index) => {
    const value = points.at(-1)?.value;
    return value === undefined ? [] : [{ series: index, value, text: `${formatEnd(value)} ${name}` }];
  });
}

/** Draws the names at the right, as near to the lines' ends as possible without touching each other. */
function endLabels(ends: readonly End[], plane: Plane, y: Scale): SVGElement[] {
  const heights = apart(
    ends.map(({ value }) => y(value)),
    LINE_HEIGHT,
    plane.bottom,
  );
  return ends.map(({ series, text }, at) =>
    group(seriesClass(series), label(text, { x: plane.right + 6, y: (heights[at] ?? 0) + 4 }, 'end-label')),
  );
}
