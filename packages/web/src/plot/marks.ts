import { group, svg } from './svg.ts';

/** Position of a mark, in pixels. */
export interface Position {
  readonly x: number;
  readonly y: number;
}

/** Half a point mark's width. */
const RADIUS = 4.5;
/** Half the width of the cap at an interval's end. */
const CAP = 4;

/** Draws a point. Series differ in shape, not in colour alone: a disc, a square, a diamond, a triangle, then the same hollow. */
export function point({ x, y }: Position, series: number): SVGElement {
  const r = RADIUS;
  const className = series % 8 < 4 ? 'point' : 'point hollow';
  const corners = [
    '',
    `M${-r + 0.5} ${-r + 0.5}h${2 * r - 1}v${2 * r - 1}h${1 - 2 * r}z`,
    `M0 ${-r - 1.2}L${r + 1.2} 0L0 ${r + 1.2}L${-r - 1.2} 0z`,
    `M0 ${-r - 0.7}L${r + 0.7} ${r - 0.3}H${-r - 0.7}z`,
  ][series % 4];
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  if (corners === '' || corners === undefined) return svg('circle', { class: className, r, transform });
  return svg('path', { class: className, d: corners, transform });
}

/** Joins points in their order. */
export function line(places: readonly Position[]): SVGElement {
  const points = places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
  return svg('polyline', { class: 'line', points });
}

/** Draws an interval between two positions, vertical or horizontal, with a cap at each end. */
export function interval(from: Position, to: Position): SVGElement {
  const upright = from.x === to.x;
  const cap = ({ x, y }: Position): SVGElement =>
    upright
      ? svg('line', { x1: x - CAP, x2: x + CAP, y1: y, y2: y })
      : svg('line', { x1: x, x2: x, y1: y - CAP, y2: y + CAP });
  const stem = svg('line', { x1: from.x, y1: from.y, x2: to.x, y2: to.y });
  return group('interval', stem, cap(from), cap(to));
}

/** Draws a horizontal bar around `y`. */
export function bar(from: number, to: number, y: number, thickness: number): SVGElement {
  const width = Math.max(Math.abs(to - from), 1);
  return svg('rect', {
    class: 'bar',
    x: Math.min(from, to),
    y: y - thickness / 2,
    width,
    height: thickness,
    rx: 3,
  });
}

/** Draws a vertical stroke across a bar. */
export function stroke({ x, y }: Position, length: number): SVGElement {
  return svg('line', { class: 'stroke', x1: x, x2: x, y1: y - length / 2, y2: y + length / 2 });
}
