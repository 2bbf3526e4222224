import type { Scale } from './scale.ts';
import { group, label, svg } from './svg.ts';

/** The area in which marks are drawn, in pixels from the top left. */
export interface Plane {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Axis {
  readonly scale: Scale;
  readonly format: (tick: number) => string;
  readonly title: string;
  /** The tick that is drawn stronger: the value at which there is neither gain nor loss. */
  readonly zero?: number;
}

/** Draws vertical grid lines with their labels below. */
export function bottomAxis({ left, right, top, bottom }: Plane, axis: Axis): SVGElement {
  const { scale, format, title, zero } = axis;
  const ticks = scale.ticks.map((tick) => {
    const x = scale(tick);
    return tickOf(
      tick,
      svg('line', { class: tick === zero ? 'zero' : 'grid', x1: x, x2: x, y1: top, y2: bottom }),
      label(format(tick), { x, y: bottom + 18, anchor: 'middle' }),
    );
  });
  const heading = label(title, { x: (left + right) / 2, y: bottom + 38, anchor: 'middle' }, 'axis-title');
  return group('axis x', ...ticks, heading);
}

/** Draws horizontal grid lines, their labels to the left, and the title above. */
export function leftAxis({ left, right, top }: Plane, { scale, format, title, zero }: Axis): SVGElement {
  const ticks = scale.ticks.map((tick) => {
    const y = scale(tick);
    return tickOf(
      tick,
      svg('line', { class: tick === zero ? 'zero' : 'grid', x1: left, x2: right, y1: y, y2: y }),
      label(format(tick), { x: left - 8, y: y + 4, anchor: 'end' }),
    );
  });
  return group('axis y', ...ticks, label(title, { x: 0, y: top - 14 }, 'axis-title'));
}

function tickOf(value: number, ...parts: readonly Node[]): SVGElement {
  return svg('g', { class: 'tick', 'data-value': String(value) }, ...parts);
}
