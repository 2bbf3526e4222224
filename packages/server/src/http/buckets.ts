import { z } from '@hono/zod-openapi';
import { TallyError } from '@tallystick/core';
import { BUCKETS } from '@tallystick/inference';
import { listQuery, periodOf } from './list.ts';

/** Most buckets of an answer. */
const MOST = 2_000;
/** Number of buckets where the query names no beginning: an hour, two days, 90 days. */
const SHOWN = { minute: 60, hour: 48, day: 90 } as const;

/** The query parameters of counts by time. */
export const bucketQuery = {
  bucket: z.enum(['minute', 'hour', 'day']).optional().openapi({
    description: 'The length of a bucket. `hour` when absent.',
  }),
  from: listQuery.from,
  to: listQuery.to,
} as const;

type BucketQuery = {
  readonly [Name in keyof typeof bucketQuery]?: z.infer<(typeof bucketQuery)[Name]> | undefined;
};

/** Buckets of time: `from` and `to`, which is exclusive, are at the edges; all in seconds, Unix seconds where they are times. */
export interface Buckets {
  readonly span: (typeof BUCKETS)[keyof typeof BUCKETS];
  readonly from: number;
  readonly to: number;
}

/** The buckets that a query asks for. @param now Unix milliseconds @throws invalid_field */
export function bucketsOf(query: BucketQuery, now: number): Buckets {
  const { bucket = 'hour' } = query;
  const span = BUCKETS[bucket];
  const given = periodOf(query);
  const last = query.to === undefined ? Math.floor(now / 1_000) + 1 : Math.floor(given.before.at / 1_000);
  const to = Math.ceil(last / span) * span;
  const first = query.from === undefined ? to - span * SHOWN[bucket] : Math.floor(given.from / 1_000);
  const from = Math.max(0, Math.floor(first / span) * span);
  if ((to - from) / span <= MOST) return { span, from, to };
  throw new TallyError(
    'invalid_field',
    `The period has more than ${MOST} buckets of a ${bucket}. Take a shorter period or longer buckets.`,
    { field: 'bucket' },
  );
}
