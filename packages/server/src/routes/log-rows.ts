import { z } from '@hono/zod-openapi';
import { batchId, formatTimestamp, pendingRef, toBase64url, toHex } from '@tallystick/core';
import type { ChainPosting, LeafPage, ListedLeaf, PostingPage } from '@tallystick/log';
import type { Answer } from '../http/answer.ts';
import { type Listing, type ListPage, type ListQuery, listAnswer, numberIn } from '../http/list.ts';
import type { Services } from '../services.ts';
import { count, digestText, timestamp, txHash } from './shapes.ts';

/** A hash as requests and answers write it. */
export const hashText = z.string().openapi({
  description:
    'SHA-256 of the canonical JSON (JCS, RFC 8785) of the anchored document: base64url, 43 characters.',
  pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
  example: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
});

export const postingState = z.enum(['queued', 'broadcast', 'confirmed', 'finalized']);

export const postingSchema = z
  .object({
    sequence: z.int().describe('From 1, one for each posting.'),
    tree_size: z.int().describe('The number of leaves that the root covers.'),
    merkle_root: digestText.describe('The root hash.'),
    state: postingState.describe('The hashes under the root are anchored once this is `finalized`.'),
    scheduled_at: timestamp.describe('When it was due.'),
    tx_hash: txHash.nullable().describe('Its transaction; null until it is in a block.'),
    block_height: z.int().nullable().describe('Its block; null until it is in one.'),
    block_time: timestamp.nullable().describe('The block’s own time.'),
  })
  .openapi('Posting', { description: 'A root that goes to the chain.' });

export const leafSchema = z
  .object({
    leaf_index: count.openapi({ description: 'Its place in the log, from 0.' }),
    canonical_sha256: hashText,
    batch_id: z.string().openapi({
      description: 'The posting that it was scheduled for, to the minute (UTC).',
      pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\dZ$`,
    }),
    anchor_ref: z.string().openapi({
      description: 'A reference by which `GET /v1/anchor/{anchor_ref}` finds it, now and later.',
      example: 'urn:anchor:pending:2027-03-01T13:00Z:rs',
    }),
    posting: postingSchema
      .nullable()
      .openapi({ description: 'The first posting whose root covers it; null until there is one.' }),
  })
  .openapi('LogLeaf', { description: 'A hash in the log.' });

const POSTING_COLUMNS = Object.keys(postingSchema.shape);
const LEAF_COLUMNS = [
  ...Object.keys(leafSchema.shape).filter((name) => name !== 'posting'),
  ...POSTING_COLUMNS.map((name) => `posting.${name}`),
];

function leafDocument({ index, hash, batchAt, posting }: ListedLeaf) {
  return {
    leaf_index: index,
    canonical_sha256: toBase64url(hash),
    batch_id: batchId(batchAt),
    anchor_ref: pendingRef(batchAt, index),
    posting: posting && postingDocument(posting),
  };
}

function postingDocument({ sequence, size, root, state, batchAt, place }: ChainPosting) {
  return {
    sequence,
    tree_size: size,
    merkle_root: `sha256:${toHex(root)}`,
    state,
    scheduled_at: formatTimestamp(batchAt * 1000),
    tx_hash: place?.txHash ?? null,
    block_height: place?.blockHeight ?? null,
    block_time: place === null ? null : formatTimestamp(place.blockTime * 1000),
  };
}

type Log = Services['store']['log'];

/** The postings to the chain. */
export function postingListing(
  log: Log,
  filters: Pick<PostingPage, 'state' | 'txHash' | 'size'>,
): Listing<ChainPosting> {
  return {
    name: 'postings',
    read: ({ from, before, limit }) =>
      log.pageOfPostings({
        from: Math.ceil(from / 1_000),
        // Scheduled times rise with the sequences, so behind a posting the time bounds nothing more.
        to: Math.ceil(before.at / 1_000) + (before.id === '' ? 0 : 1),
        before: numberIn(before) ?? Number.MAX_SAFE_INTEGER,
        limit,
        ...filters,
      }),
    placeOf: ({ sequence, batchAt }) => ({ at: batchAt * 1_000, id: String(sequence) }),
    show: postingDocument,
    columns: POSTING_COLUMNS,
    isPublic: true,
  };
}

export interface LeafList {
  /** Name of the file of an export, without its ending. */
  readonly name: string;
  /** Account that handed the hashes in; null for the leaves of everybody. */
  readonly owner: string | null;
  /** Id of the API key of that account that they came with; absent or null for any. */
  readonly key?: string | null;
  /** Indexes of leaves that bound the list: inclusive, and exclusive. */
  readonly within: Partial<Pick<LeafPage, 'from' | 'before'>>;
}

/** Answers leaves, the highest index first. @throws invalid_field */
export function leafList(
  log: Log,
  query: ListQuery,
  { name, owner, key = null, within }: LeafList,
): Promise<Answer> {
  return listAnswer<ListedLeaf>(query, {
    name,
    async read({ limit, ...place }) {
      const { from, before } = await indexesOf(log, place, query);
      return log.listLeaves({
        owner,
        key,
        from: Math.max(from, within.from ?? 0),
        before: Math.min(before, within.before ?? Number.MAX_SAFE_INTEGER),
        limit,
      });
    },
    placeOf: ({ index, batchAt }) => ({ at: batchAt * 1_000, id: String(index) }),
    show: leafDocument,
    columns: LEAF_COLUMNS,
    isPublic: owner === null,
  });
}

/** The part of the log that a page asks for, as indexes: scheduled times never fall as indexes rise. */
async function indexesOf(
  log: Log,
  { from, before }: Pick<ListPage, 'from' | 'before'>,
  { from: first, to }: ListQuery,
): Promise<Pick<LeafPage, 'from' | 'before'>> {
  const indexAt = async (ms: number): Promise<number> =>
    (await log.firstLeavesAt([Math.ceil(ms / 1_000)]))[0] ?? 0;
  const start = first === undefined ? 0 : await indexAt(from);
  const last = numberIn(before);
  if (last !== null) return { from: start, before: last };
  return { from: start, before: to === undefined ? Number.MAX_SAFE_INTEGER : await indexAt(before.at) };
}
