import { element } from '../dom.ts';
import { point } from './marks.ts';
import { svg } from './svg.ts';

/** A quantity in a plot and its name; colours and shapes are given in the order of the series. */
export interface Series {
  readonly id: string;
  readonly name: string;
}

interface FigureParts {
  /** A whole sentence or a heading, which is also the plot's accessible name. */
  readonly title: string;
  /** Explanation that a reader needs to read the figure. */
  readonly note: string;
  readonly series: readonly Series[];
  /** Draws the plot in a width in pixels. */
  readonly draw: (width: number) => SVGElement;
  /** Table of the same numbers, for readers who can't see the plot or want exact values. */
  readonly table: Node;
}

/**
 * A plot with its numbers beside it. It is drawn again whenever its width changes, so that its text always
 * has the size of the page's.
 */
export function figureOf({ title, note, series, draw, table }: FigureParts): HTMLElement {
  const canvas = element('div', 'canvas');
  const caption = element('figcaption', '', element('strong', '', title), element('span', 'help', note));
  const plot = element('div', 'plot', legendOf(series), canvas);
  const figure = element('figure', 'figure', caption, plot, table);
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === drawn || width === 0) return;
    drawn = width;
    const image = draw(width);
    image.setAttribute('role', 'img');
    image.setAttribute('aria-label', title);
    canvas.replaceChildren(image);
  }).observe(canvas);
  return figure;
}

/** The root element of a plot: one unit is one pixel. */
export function canvasOf(width: number, height: number, ...contents: readonly Node[]): SVGElement {
  return svg('svg', { class: 'drawing', viewBox: `0 0 ${width} ${height}`, width, height }, ...contents);
}

/** Legend of the series; empty if there is only one. */
function legendOf(series: readonly Series[]): Node {
  const items = series.map(({ name }, index) => {
    const swatch = svg(
      'svg',
      {
        class: `swatch ${seriesClass(index)}`,
        viewBox: '-14 -7 28 14',
        width: 28,
        height: 14,
        'aria-hidden': 'true',
      },
      svg('line', { class: 'line', x1: -14, x2: 14, y1: 0, y2: 0 }),
      point({ x: 0, y: 0 }, index),
    );
    return element('li', '', swatch, name);
  });
  return items.length < 2 ? new Text() : element('ul', 'legend', ...items);
}

/** Class that gives a series its colour and dashes. */
export function seriesClass(index: number): string {
  return `series s${index % 4}`;
}
