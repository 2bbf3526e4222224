/** The contents of a plot, read from the positions of its marks between the ticks of its axes. */
export interface ShownPlot {
  readonly title: string;
  readonly marks: readonly ShownMark[];
}

export interface ShownMark {
  /** Name of the line's series, or of the row. */
  readonly of: string;
  /** The heading over the row; empty without one. */
  readonly under: string;
  /** For a point of a line, the tick below it. */
  readonly x: number | null;
  readonly series: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Reads every plot of the page; runs in the page. */
export function readPlots(): ShownPlot[] {
  type Direction = 'x' | 'y';

  const centre = (element: Element, direction: Direction): number => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return direction === 'x' ? (left + right) / 2 : (top + bottom) / 2;
  };

  /** Returns a function from pixels to the quantity, by the outermost ticks of an axis. */
  const readerOf = (plot: Element, direction: Direction) => {
    const ticks = [...plot.querySelectorAll<SVGElement>(`.axis.${direction} .tick`)].map((tick) => ({
      value: Number(tick.dataset['value']),
      at: centre(tick.querySelector('line') ?? tick, direction),
    }));
    const [first, last] = [ticks[0], ticks.at(-1)];
    if (first === undefined || last === undefined) throw new Error('The plot has no axis.');
    const read = (at: number): number =>
      first.value + ((at - first.at) / (last.at - first.at)) * (last.value - first.value);
    return { ticks, read };
  };

  /** The ends of an interval by its caps, or of a bar by its sides. */
  const endsOf = (mark: Element, direction: Direction, read: (at: number) => number): [number, number] => {
    const bar = mark.querySelector('.bar')?.getBoundingClientRect();
    const places = bar
      ? [bar.left, bar.right]
      : [...mark.querySelectorAll('.interval line')].slice(1).map((cap) => centre(cap, direction));
    const values = places.map(read).sort((a, b) => a - b);
    return [values[0] ?? Number.NaN, values[1] ?? Number.NaN];
  };

  const seriesOf = (mark: Element): number =>
    Number(/\bs(\d)/.exec(mark.closest('.series')?.getAttribute('class') ?? '')?.[1]);

  const readMark = (mark: Element, direction: Direction, read: (at: number) => number) => {
    const value = read(centre(mark.querySelector('.point, .stroke') ?? mark, direction));
    const [low, high] = endsOf(mark, direction, read);
    return { series: seriesOf(mark), value, low, high };
  };

  const linesOf = (plot: Element): ShownMark[] => {
    const y = readerOf(plot, 'y').read;
    const { ticks } = readerOf(plot, 'x');
    return [...plot.querySelectorAll('.mark-of')].map((mark) => {
      const at = centre(mark.querySelector('.point') ?? mark, 'x');
      const nearest = ticks.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0];
      const of = mark.closest<SVGElement>('.series')?.dataset['series'] ?? '';
      return { of, under: '', x: nearest?.value ?? null, ...readMark(mark, 'y', y) };
    });
  };

  const rowsOf = (plot: Element): ShownMark[] => {
    const x = readerOf(plot, 'x').read;
    let under = '';
    return [...plot.querySelectorAll<SVGElement>('.row-heading, .row-of')].flatMap((part) => {
      if (part.matches('.row-heading')) {
        under = part.textContent ?? '';
        return [];
      }
      const of = part.querySelector('.row-name')?.textContent ?? '';
      const marks = [...part.querySelectorAll('.series')];
      return marks.map((mark) => ({ of, under, x: null, ...readMark(mark, 'x', x) }));
    });
  };

  return [...document.querySelectorAll('.figure .drawing')]
    .filter((plot) => plot.checkVisibility())
    .map((plot) => ({
      title: plot.getAttribute('aria-label') ?? '',
      marks: plot.querySelector('.axis.y') ? linesOf(plot) : rowsOf(plot),
    }));
}

/** The texts that reach beyond their plots; runs in the page. */
export function cutOff(texts: readonly Element[]): (string | null)[] {
  return texts.flatMap((text) => {
    const [inner, outer] = [text, text.closest('svg')].map((part) => part?.getBoundingClientRect());
    if (inner === undefined || outer === undefined) return ['not in a plot'];
    const inside = inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
    return inside && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1 ? [] : [text.textContent];
  });
}
