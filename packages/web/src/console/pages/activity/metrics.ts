import { sumMoney } from '../../format/money.ts';
import type { CallCounts } from './documents.ts';
import { bucketsOf, type Range } from './range.ts';

export const METRICS = ['calls', 'cost', 'latency', 'errors', 'saving'] as const;
export type Metric = (typeof METRICS)[number];

/** Counts of a range, one for each of its buckets, and their sums. */
export interface Summary {
  readonly bucket: Range['bucket'];
  readonly times: readonly number[];
  readonly calls: readonly number[];
  readonly errors: readonly number[];
  /** USDC, for drawing alone. */
  readonly cost: readonly number[];
  readonly saving: readonly number[];
  /** Milliseconds; null where there was no call. */
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
  readonly total: Readonly<Record<Metric, number>>;
  /** Exact sums, decimal USDC. */
  readonly costUsdc: string;
  readonly savingUsdc: string;
}

/** Puts counts into the buckets of their range, with zeros where there were no calls. */
export function summarize(rows: readonly CallCounts[], range: Range): Summary {
  const times = bucketsOf(range);
  const byTime = new Map(rows.map((row) => [Date.parse(row.at) / 1_000, row]));
  const numbers = (of: (row: CallCounts) => number): number[] =>
    times.map((time) => {
      const row = byTime.get(time);
      return row === undefined ? 0 : of(row);
    });
  const measured = (of: (row: CallCounts) => number | null): (number | null)[] =>
    times.map((time) => {
      const row = byTime.get(time);
      return row === undefined ? null : of(row);
    });
  const costUsdc = sumMoney(rows.map((row) => row.cost_usdc));
  const savingUsdc = sumMoney(rows.map((row) => row.saving_usdc));
  return {
    bucket: range.bucket,
    times,
    calls: numbers((row) => row.calls),
    errors: numbers((row) => row.errors),
    cost: numbers((row) => Number(row.cost_usdc)),
    saving: numbers((row) => Number(row.saving_usdc)),
    p50: measured((row) => row.p50_ms),
    p95: measured((row) => row.p95_ms),
    costUsdc,
    savingUsdc,
    total: {
      calls: sum(rows.map((row) => row.calls)),
      errors: sum(rows.map((row) => row.errors)),
      cost: Number(costUsdc),
      saving: Number(savingUsdc),
      latency: middleLatency(rows),
    },
  };
}

/** The middle one of the buckets' p95, each as often as it has calls: percentiles of parts can't be added up. */
function middleLatency(rows: readonly CallCounts[]): number {
  const measured = rows.flatMap(({ p95_ms, calls }) => (p95_ms === null ? [] : [{ p95_ms, calls }]));
  const half = sum(measured.map(({ calls }) => calls)) / 2;
  let passed = 0;
  for (const { p95_ms, calls } of measured.toSorted((one, other) => one.p95_ms - other.p95_ms)) {
    passed += calls;
    if (passed >= half) return p95_ms;
  }
  return 0;
}

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);
