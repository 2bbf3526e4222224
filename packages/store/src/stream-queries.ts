import type { StreamHeadRow, StreamRow } from '@tallystick/receipts';
import { sql } from 'kysely';
import { type Compiler, statement } from './statement.ts';

export function streamQueries(db: Compiler) {
  const streams = db.selectFrom('streams').select(['streams.id', 'since', 'streams.size', 'head']);
  const heads = db.selectFrom('stream_heads').select(['stream', 'sequence', 'size', 'at', 'body']);
  return {
    insertStream: statement((v: StreamRow) =>
      db
        .insertInto('streams')
        .values({ id: v.id, since: v.since, size: v.size, head: v.head })
        .onConflict((conflict) => conflict.column('id').doNothing()),
    ),
    getStream: statement((v: { id: string }) => streams.where('id', '=', v.id)),
    pageOfGrownStreams: statement((v: { after: string; limit: number }) =>
      streams
        .where('id', '>', v.after)
        .where(
          sql<boolean>`size > coalesce((select max(size) from stream_heads where stream = streams.id), 0)`,
        )
        .orderBy('id')
        .limit(v.limit),
    ),
    pageOfStreamRounds: statement((v: { stream: string; first: number; limit: number }) =>
      db
        .selectFrom('stream_rounds')
        .select(['stream', 'first', 'hashes'])
        .where('stream', '=', v.stream)
        .where(
          sql<boolean>`first >= coalesce(
            (select max(first) from stream_rounds where stream = ${v.stream} and first <= ${v.first}), 0)`,
        )
        .orderBy('first')
        .limit(v.limit),
    ),
    newestStreamHead: statement((v: { stream: string }) =>
      heads.where('stream', '=', v.stream).orderBy('sequence', 'desc').limit(sql.lit(1)),
    ),
    insertStreamHead: statement((v: StreamHeadRow) =>
      db
        .insertInto('stream_heads')
        .values({ stream: v.stream, sequence: v.sequence, size: v.size, at: v.at, body: v.body })
        .onConflict((conflict) => conflict.columns(['stream', 'sequence']).doNothing()),
    ),
    pageOfStreamHeads: statement((v: { stream: string; after: number; limit: number }) =>
      heads.where('stream', '=', v.stream).where('sequence', '>', v.after).orderBy('sequence').limit(v.limit),
    ),
    streamHeadBefore: statement((v: { stream: string; at: number; size: number }) =>
      heads
        .where('stream', '=', v.stream)
        .where('at', '<=', v.at)
        .where('size', '<=', v.size)
        .orderBy('sequence', 'desc')
        .limit(sql.lit(1)),
    ),
  };
}
