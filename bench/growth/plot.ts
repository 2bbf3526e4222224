/** What was measured at one number of receipts. */
export interface Point {
  readonly kind: string;
  readonly size: number;
  /** Milliseconds by what was done. */
  readonly values: ReadonlyMap<string, number>;
}

const COLUMNS = 3;
const WIDTH = 300;
const HEIGHT = 190;
/** Of a plot within its place: left, top, right, bottom. */
const EDGE = { left: 52, top: 40, right: 20, bottom: 34 };
const NAMES: Readonly<Record<string, string>> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

const STYLE = `
  :root { color-scheme: light dark; }
  text { font: 12px system-ui, sans-serif; fill: #1b1f24; }
  .title { font-weight: 600; }
  .axis { stroke: #8b949e; fill: none; }
  .sqlite { --ink: #0b62d6; } .postgres { --ink: #b45309; }
  path.line { stroke: var(--ink); stroke-width: 2; fill: none; }
  circle { fill: var(--ink); }
  .postgres path.line { stroke-dasharray: 6 4; }
  .ground { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .ground { fill: #0d1117; }
    .sqlite { --ink: #6cb6ff; } .postgres { --ink: #f0a35e; }
  }`;

/** Makes an SVG with one plot for each operation: milliseconds, from 0, over the number of receipts, which has a logarithmic scale. */
export function growthPlot(points: readonly Point[]): string {
  const names = [...(points[0]?.values.keys() ?? [])];
  const kinds = [...new Set(points.map(({ kind }) => kind))];
  const height = Math.ceil(names.length / COLUMNS) * HEIGHT + 30;
  const plots = names.map((name, at) => {
    const [x, y] = [(at % COLUMNS) * WIDTH, Math.floor(at / COLUMNS) * HEIGHT + 30];
    return `<g transform="translate(${x} ${y})">${plot(name, points, kinds)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${COLUMNS * WIDTH} ${height}" role="img" aria-label="Milliseconds (median) over the number of receipts">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="100%" height="100%"/>`,
    ...kinds.map((kind, at) => legend(kind, at)),
    `<text x="${COLUMNS * WIDTH - 16}" y="24" text-anchor="end">milliseconds (median) over receipts</text>`,
    ...plots,
    '</svg>\n',
  ].join('\n');
}

function legend(kind: string, at: number): string {
  const x = 16 + at * 120;
  return `<g class="${kind}"><path class="line" d="M${x} 20h26"/><circle cx="${x + 13}" cy="20" r="3.5"/><text x="${x + 34}" y="24">${NAMES[kind] ?? kind}</text></g>`;
}

function plot(name: string, points: readonly Point[], kinds: readonly string[]): string {
  const sizes = [...new Set(points.map(({ size }) => size))].toSorted((a, b) => a - b);
  const [low = 1, high = low] = [sizes[0], sizes.at(-1)];
  const top = roundUp(Math.max(...points.map(({ values }) => values.get(name) ?? 0)) * 1.1);
  const [right, bottom] = [WIDTH - EDGE.right, HEIGHT - EDGE.bottom];
  const share = (size: number): number => (high === low ? 0 : Math.log(size / low) / Math.log(high / low));
  const x = (size: number): number => Math.round(EDGE.left + 8 + share(size) * (right - EDGE.left - 16));
  const y = (value: number): number => Math.round((bottom - (value / top) * (bottom - EDGE.top)) * 10) / 10;
  const lines = kinds.map((kind) => {
    const of = points.filter((one) => one.kind === kind).toSorted((a, b) => a.size - b.size);
    const places = of.map(({ size, values }) => [x(size), y(values.get(name) ?? 0)]);
    const dots = places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5"/>`).join('');
    return `<g class="${kind}"><path class="line" d="M${places.map((place) => place.join(' ')).join('L')}"/>${dots}</g>`;
  });
  return [
    `<text class="title" x="16" y="22">${name}</text>`,
    `<path class="axis" d="M${EDGE.left} ${EDGE.top}V${bottom}H${right}"/>`,
    ...[0, top / 2, top].map(
      (value) => `<text x="${EDGE.left - 6}" y="${y(value) + 4}" text-anchor="end">${label(value)}</text>`,
    ),
    ...sizes.map(
      (size) => `<text x="${x(size)}" y="${bottom + 18}" text-anchor="middle">${label(size)}</text>`,
    ),
    ...lines,
  ].join('');
}

/** The smallest of 1, 2, 5, 10, 20 … that is at least the value. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value) ?? value;
}

function label(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  if (value >= 1e3) return `${value / 1e3} k`;
  return `${Number(value.toPrecision(3))}`;
}
