import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { isDark } from '../theme.ts';

export interface Series {
  readonly label: string;
  /** One for each time; null where there is none. */
  readonly values: readonly (number | null)[];
  readonly tone: 'accent' | 'soft' | 'fail' | 'pass';
  /** Lines for what is measured, bars for what is counted, dashes for what it is compared with. */
  readonly form: 'line' | 'bars' | 'dashes';
}

const HEIGHT = 220;
const TONES = { accent: '--bar', soft: '--edge', fail: '--fail', pass: '--pass' } as const;

/** Distances between two marks on an axis of whole numbers: 1, 2, 5, 10, … */
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

/** Values over time. Dragging over a part of it picks that part. @param times Unix seconds, rising */
export function TimeSeries({
  label,
  times,
  series,
  format,
  whole = false,
  pick,
}: {
  /** What is drawn, in one sentence: readers who can't see it are told this. */
  readonly label: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** Whether the values are whole numbers, and nothing between them is marked on the axis. */
  readonly whole?: boolean;
  readonly pick?: (from: number, to: number) => void;
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const dark = isDark();
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    let plot: uPlot | null = null;
    let gone = false;
    const sized = new ResizeObserver(() => plot?.setSize({ width: current.clientWidth, height: HEIGHT }));
    const draw = async (): Promise<void> => {
      const { default: Plot } = await import('uplot');
      if (gone) return;
      const data = [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
      plot = new Plot(optionsOf(Plot, current, { times, series, format, whole, pick }), data, current);
      sized.observe(current);
    };
    void draw();
    return () => {
      gone = true;
      sized.disconnect();
      plot?.destroy();
    };
  }, [times, series, dark]);
  return (
    <figure class="series">
      <div ref={place} role="img" aria-label={label} style={{ height: `${HEIGHT}px` }} />
      <figcaption>
        {series.map(({ label, tone, form }) => (
          <span key={label} data-tone={tone} data-form={form}>
            {label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

interface Drawn {
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly whole: boolean;
  readonly pick: ((from: number, to: number) => void) | undefined;
}

function optionsOf(
  Plot: typeof uPlot,
  place: HTMLElement,
  { times, series, format, whole, pick }: Drawn,
): uPlot.Options {
  const colour = (name: string): string => colourOf(place, name);
  const font = `11px ${getComputedStyle(place).fontFamily}`;
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  const axis = { stroke: colour('--soft'), font, ticks: { show: false } };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { x: pick !== undefined, y: false, setScale: false } },
    scales: {
      x: { time: true, range: (_, from, to) => [from - step / 2, to + step / 2] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        space: 90,
        values: (_, splits) => splits.map((at) => timeOf(at, step)),
      },
      {
        ...axis,
        size: 60,
        space: 36,
        grid: { stroke: colour('--line'), width: 1 },
        values: (_, splits) => splits.map(format),
        ...(whole && { incrs: WHOLE }),
      },
    ],
    series: [
      {},
      ...series.map(({ label, tone, form }): uPlot.Series => {
        const stroke = colour(TONES[tone]);
        const bars = Plot.paths.bars?.({ size: [0.72, 28], radius: 0.12 });
        return {
          label,
          stroke,
          points: { show: false },
          width: form === 'bars' ? 0 : 1.75,
          ...(form === 'bars' && bars ? { paths: bars, fill: stroke } : {}),
          ...(form === 'dashes' ? { dash: [3, 4] } : {}),
        };
      }),
    ],
    hooks: {
      setCursor: [tooltip(place, series, format)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < 4) return;
          pick?.(Math.floor(plot.posToVal(left, 'x')), Math.ceil(plot.posToVal(left + width, 'x')));
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        },
      ],
    },
  };
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** A place on the axis: a day where midnight or nothing shorter is meant, else the time of day. */
function timeOf(at: number, step: number): string {
  const time = new Date(at * 1_000);
  const isDay = step >= 86_400 || (time.getHours() === 0 && time.getMinutes() === 0);
  return (isDay ? day : clock).format(time);
}

/** Shows the values under the pointer. */
function tooltip(
  place: HTMLElement,
  series: readonly Series[],
  format: (value: number) => string,
): (plot: uPlot) => void {
  const box = document.createElement('div');
  box.className = 'tooltip';
  return (plot) => {
    const { idx, left = -1 } = plot.cursor;
    const at = idx === null || idx === undefined ? undefined : plot.data[0][idx];
    if (at === undefined || left < 0) return box.remove();
    const lines = series.map(({ label }, index) => {
      const value = plot.data[index + 1]?.[idx ?? 0];
      return `${label}  ${value === null || value === undefined ? 'none' : format(value)}`;
    });
    box.textContent = [
      new Date(at * 1_000).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' }),
      ...lines,
    ].join('\n');
    if (!box.isConnected) place.append(box);
    const most = place.clientWidth - box.offsetWidth - 4;
    box.style.left = `${Math.max(Math.min(left + 80, most), 4)}px`;
  };
}

/** The colour that a custom property has here, as the canvas takes it. */
function colourOf(place: HTMLElement, name: string): string {
  const before = place.style.color;
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = before;
  return color;
}
