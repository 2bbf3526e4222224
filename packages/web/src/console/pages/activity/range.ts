/** A part of time, in Unix seconds, from inclusive, to exclusive, and the buckets that it is counted in. */
export interface Range {
  readonly from: number;
  readonly to: number;
  readonly bucket: Bucket;
}

type Bucket = 'minute' | 'hour' | 'day';

/** Seconds of a bucket. */
const BUCKETS: Readonly<Record<Bucket, number>> = { minute: 60, hour: 3_600, day: 86_400 };

/** Ranges that end now, by their names in the address. */
export const RANGES = {
  '1h': { title: '1 hour', seconds: 3_600 },
  '24h': { title: '24 hours', seconds: 86_400 },
  '7d': { title: '7 days', seconds: 7 * 86_400 },
  '30d': { title: '30 days', seconds: 30 * 86_400 },
  '90d': { title: '90 days', seconds: 90 * 86_400 },
} as const;

export type RangeName = keyof typeof RANGES;
export const DEFAULT_RANGE: RangeName = '24h';

/** Buckets that are drawn at most. */
const MOST = 200;

/**
 * The range that an address names: by `from` and `to` (Unix seconds), or by a name of RANGES. It begins and ends at
 * the edge of a bucket.
 * @param now Unix seconds
 */
export function rangeIn(query: URLSearchParams, now: number): Range {
  const [from, to] = [Number(query.get('from') ?? NaN), Number(query.get('to') ?? NaN)];
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && from < to)
    return aligned(from, to);
  return aligned(now - RANGES[rangeNameIn(query)].seconds, now);
}

/** The name of the range in an address, where it has no other range. */
export function rangeNameIn(query: URLSearchParams): RangeName {
  const name = query.get('range') ?? '';
  return Object.hasOwn(RANGES, name) ? (name as RangeName) : DEFAULT_RANGE;
}

/** The range of the same length that ends where this one begins. */
export function rangeBefore({ from, to, bucket }: Range): Range {
  return { from: from - (to - from), to: from, bucket };
}

/** The beginnings of the range's buckets, Unix seconds. */
export function bucketsOf({ from, to, bucket }: Range): number[] {
  const step = BUCKETS[bucket];
  return Array.from({ length: Math.round((to - from) / step) }, (_, at) => from + at * step);
}

function aligned(from: number, to: number): Range {
  const bucket =
    (Object.keys(BUCKETS) as Bucket[]).find((name) => (to - from) / BUCKETS[name] <= MOST) ?? 'day';
  const step = BUCKETS[bucket];
  return { from: Math.floor(from / step) * step, to: Math.ceil(to / step) * step, bucket };
}
