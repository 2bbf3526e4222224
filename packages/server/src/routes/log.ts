import { z } from '@hono/zod-openapi';
import { formatTimestamp, parseTilePath, TallyError, toHex, verifierKey } from '@tallystick/core';
import type { ChainPosting } from '@tallystick/log';
import { json, text } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { digestText, evmAddress, timestamp, txHash } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'store' | 'log' | 'logKey' | 'chain'>;

const GROUP = 'Log';

/** The anchor log for its monitors (C2SP tlog-tiles) and for people. */
export function logRoutes(services: Needs): Endpoint[] {
  return [status(services), postings(services), checkpoint(services), tile(services)];
}

function status({ log, logKey, chain, config }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/log',
    operationId: 'getLogStatus',
    group: GROUP,
    summary: 'Read the state of the anchor log',
    description:
      'For people and dashboards: nothing in the answer is signed. The signed proof is at `/checkpoint` and `/tile/`.',
    availability: 'live',
    answers: {
      200: {
        description: "The log's name and key, its size, and the time of its next posting",
        schema: z
          .object({
            origin: z.string().describe('The name of the log and of its key.'),
            verifier_key: z.string().describe('The log’s key in the C2SP verifier key format.'),
            accepted: z.int().describe('The number of hashes accepted.'),
            tree_size: z.int().describe('How many of them the newest checkpoint covers.'),
            anchored_size: z
              .int()
              .describe('How many of them are covered by a root that is final on the chain.'),
            accepting: z.string().describe('`ok`, or why no hashes are accepted.'),
            posting: z
              .string()
              .describe('`ok`, or why postings are held up, if this process is the one that posts.'),
            overdue_seconds: z
              .int()
              .describe('How long the oldest unanchored hash has waited past its posting; 0 if none has.'),
            period_seconds: z.int().describe('Time between two postings.'),
            next_posting_at: timestamp.describe('When the next posting is due.'),
            chain: z
              .object({
                network: z.string().describe('The chain’s name.'),
                chain_id: z.int().describe('The number of the chain (EIP-155).'),
                address: evmAddress.describe('The account that posts.'),
              })
              .nullable()
              .describe('Where roots are posted, and by which account.'),
          })
          .openapi('LogStatus', { description: 'How far the anchor log is. Nothing of it is signed.' }),
      },
    },
    async handle() {
      const now = await log.status();
      return json(
        {
          origin: now.origin,
          verifier_key: verifierKey(now.origin, logKey),
          accepted: now.accepted,
          tree_size: now.treeSize,
          anchored_size: now.anchoredSize,
          accepting: now.accepting,
          posting: now.posting,
          overdue_seconds: now.overdueSeconds,
          period_seconds: config.log.periodSeconds,
          next_posting_at: formatTimestamp(now.nextPostingAt * 1000),
          chain:
            chain === null
              ? null
              : { network: chain.network, chain_id: chain.chainId, address: chain.address },
        },
        { headers: { 'cache-control': 'no-store' } },
      );
    },
  });
}

const postingSchema = z
  .object({
    sequence: z.int().describe('From 1, one for each posting.'),
    tree_size: z.int().describe('The number of leaves that the root covers.'),
    merkle_root: digestText.describe('The root hash.'),
    state: z
      .enum(['queued', 'broadcast', 'confirmed', 'finalized'])
      .describe('The hashes under the root are anchored once this is `finalized`.'),
    scheduled_at: timestamp.describe('When it was due.'),
    tx_hash: txHash.nullable().describe('Its transaction; null until it is in a block.'),
    block_height: z.int().nullable().describe('Its block; null until it is in one.'),
    block_time: timestamp.nullable().describe('The block’s own time.'),
  })
  .openapi('Posting', { description: 'A root that goes to the chain.' });

const DEFAULT_POSTINGS = 20;

function postings({ store }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/log/postings',
    operationId: 'listPostings',
    group: GROUP,
    summary: 'List the roots posted to the chain',
    description:
      'For people and dashboards: nothing in the answer is signed. The proof is the transaction on the chain.',
    availability: 'live',
    query: z.strictObject({
      limit: z
        .string()
        .regex(/^(?:[1-9]\d?|100)$/, 'Not 1 to 100')
        .optional()
        .openapi({ description: `${DEFAULT_POSTINGS} when absent.` }),
    }),
    answers: {
      200: {
        description: 'The postings, newest first',
        schema: z.object({ postings: z.array(postingSchema).describe('The postings.') }),
      },
    },
    async handle({ query }) {
      const recent = await store.log.recentPostings(Number(query.limit ?? DEFAULT_POSTINGS));
      return json({ postings: recent.map(postingDocument) }, { headers: { 'cache-control': 'no-store' } });
    },
  });
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

function checkpoint({ log }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/checkpoint',
    operationId: 'getCheckpoint',
    group: GROUP,
    summary: 'Read the newest checkpoint',
    description: 'A C2SP signed note: origin, tree size and root hash, signed by the log.',
    availability: 'live',
    answers: { 200: { description: 'The note', schema: z.string(), contentType: 'text/plain' } },
    errors: ['not_found'],
    async handle({ headers }) {
      headers['cache-control'] = 'no-cache';
      const note = await log.checkpoint();
      if (note === null) {
        throw new TallyError('not_found', 'The log has signed no checkpoint yet. Try again in a second.');
      }
      return text(note, 'text/plain; charset=utf-8');
    },
  });
}

function tile({ log }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/tile/{path}',
    operationId: 'getTile',
    rest: true,
    group: GROUP,
    summary: 'Read a tile of the log',
    description:
      'C2SP tlog-tiles: `/tile/<level>/<index>` is up to 256 hashes, `/tile/entries/<index>` as many length-prefixed entries, which are the 32-byte hashes that were accepted. A partial tile ends in `.p/<width>`. The content at a path never changes.',
    availability: 'live',
    params: z.object({
      path: z.string().openapi({ description: 'Level and index, slashes included.', example: '0/000.p/1' }),
    }),
    answers: {
      200: {
        description: 'The tile',
        schema: z.string().openapi({ format: 'binary' }),
        contentType: 'application/octet-stream',
      },
    },
    errors: ['not_found'],
    async handle({ headers, params }) {
      const path = `tile/${params.path}`;
      const bytes = parseTilePath(path) === null ? null : await log.tile(path);
      if (bytes === null) {
        headers['cache-control'] = 'no-store';
        throw new TallyError('not_found', 'The log has no such tile.');
      }
      return {
        status: 200,
        body: new Uint8Array(bytes),
        contentType: 'application/octet-stream',
        headers: { 'cache-control': 'public, max-age=31536000, immutable' },
      };
    },
  });
}
