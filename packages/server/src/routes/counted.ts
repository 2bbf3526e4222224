import { z } from '@hono/zod-openapi';
import type { Buckets } from '../http/buckets.ts';
import { count, timestamp } from './shapes.ts';

/** The schema of an answer of counts, for the reference. @param name what is counted, in the plural */
export function countedSchema(name: string) {
  return z.object({
    data: z
      .array(
        z.object({
          at: timestamp.openapi({ description: 'The beginning of the bucket.' }),
          [name]: count.openapi({ description: `Number of ${name}.` }),
        }),
      )
      .openapi({ description: `The buckets that have ${name}.` }),
  });
}

/** The positions of the rows of a bucket: `from` inclusive, `before` exclusive. `at` is its beginning in Unix seconds. */
interface Counted {
  readonly at: number;
  readonly from: number;
  readonly before: number;
}

/**
 * The buckets that have rows, newest first, of rows whose times never fall as their positions rise.
 * @param positionsAt gives for each time, in Unix seconds, the position of the first row of that time or later
 */
export async function countBetween(
  { span, from, to }: Buckets,
  positionsAt: (times: readonly number[]) => Promise<readonly number[]>,
): Promise<Counted[]> {
  const edges = Array.from(
    { length: Math.max(0, (to - from) / span) + 1 },
    (_, index) => from + index * span,
  );
  const positions = await positionsAt(edges);
  const counted = edges.slice(0, -1).map((at, index) => {
    return { at, from: positions[index] ?? 0, before: positions[index + 1] ?? 0 };
  });
  return counted.filter((one) => one.before > one.from).reverse();
}
