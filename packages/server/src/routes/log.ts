import { z } from '@hono/zod-openapi';
import { formatTimestamp, parseTilePath, TallyError, verifierKey, witnessKey } from '@tallystick/core';
import { json, text } from '../http/answer.ts';
import { bucketQuery, bucketsOf } from '../http/buckets.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { EXPORT_TYPES, listAnswer, listQuery, pageSchema } from '../http/list.ts';
import type { Services } from '../services.ts';
import { countBetween, countedSchema } from './counted.ts';
import { leafList, leafSchema, postingListing, postingSchema, postingState } from './log-rows.ts';
import { evmAddress, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'config' | 'store' | 'log' | 'logKey' | 'chain' | 'clock'>;

const GROUP = 'Log';

/** The anchor log for its monitors (C2SP tlog-tiles) and for people. */
export function logRoutes(services: Needs): Endpoint[] {
  return [
    status(services),
    postings(services),
    postingCounts(services),
    leaves(services),
    leafCounts(services),
    checkpoint(services),
    tile(services),
  ];
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
            witnesses: z
              .array(z.string())
              .describe(
                'The keys of the witnesses that are asked to cosign checkpoints: C2SP verifier keys of type 0x04, or 0x06 for ML-DSA-44.',
              ),
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
          witnesses: config.log.witnesses.map(({ name, publicKey }) => witnessKey(name, publicKey)),
        },
        { headers: { 'cache-control': 'no-store' } },
      );
    },
  });
}

function postings({ store }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/log/postings',
    operationId: 'listPostings',
    group: GROUP,
    summary: 'List the roots posted to the chain',
    description:
      'For people and dashboards: nothing in the answer is signed. The proof is the transaction on the chain. `from` and `to` are times of scheduled postings.',
    availability: 'live',
    query: z.strictObject({
      ...listQuery,
      state: postingState.optional().openapi({ description: 'Only postings in this state.' }),
      tx_hash: z
        .string()
        .regex(/^0x[0-9a-f]{64}$/, 'Not 0x and 64 lower-case hex characters')
        .optional()
        .openapi({ description: 'Only the posting that this transaction carries.' }),
      tree_size: z
        .string()
        .regex(/^\d{1,15}$/, 'Not a number of leaves')
        .optional()
        .openapi({ description: 'Only the posting whose root covers exactly this many leaves.' }),
    }),
    answers: {
      200: {
        description: 'The postings, newest first',
        schema: pageSchema(postingSchema).extend({
          postings: z.array(postingSchema).openapi({ description: 'The same as `data`.' }),
        }),
        otherwise: EXPORT_TYPES,
      },
    },
    handle({ query: { state = null, tx_hash: txHash = null, tree_size, ...query } }) {
      const size = tree_size === undefined ? null : Number(tree_size);
      const listing = postingListing(store.log, { state, txHash, size });
      return listAnswer(query, { ...listing, alias: (data) => ({ postings: data }) });
    },
  });
}

function leaves({ store }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/log/leaves',
    operationId: 'listLeaves',
    group: GROUP,
    summary: 'List the hashes in the log',
    description:
      'The hashes that the log has accepted, the highest index first, each with the posting that took it to the chain. Nothing in the answer is signed: the proof is at `/checkpoint` and `/tile/`. `from` and `to` are times of the postings that hashes were scheduled for.',
    availability: 'live',
    query: z.strictObject({
      ...listQuery,
      from_index: z
        .string()
        .regex(/^\d{1,15}$/, 'Not the index of a leaf')
        .optional()
        .openapi({
          description: 'Begins with this leaf and goes on to lower indexes; with the newest when absent.',
        }),
    }),
    answers: {
      200: { description: 'The hashes', schema: pageSchema(leafSchema), otherwise: EXPORT_TYPES },
    },
    handle({ query: { from_index, ...query } }) {
      const within = from_index === undefined ? {} : { before: Number(from_index) + 1 };
      return leafList(store.log, query, { name: 'leaves', owner: null, within });
    },
  });
}

const PUBLIC = { 'cache-control': 'no-store' };

function postingCounts({ store, clock }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/log/postings/counts',
    operationId: 'countPostings',
    group: GROUP,
    summary: 'Count the roots posted to the chain',
    description:
      'How many postings of `GET /v1/log/postings` were scheduled in each bucket of time (UTC), newest first, for plots. A bucket without postings is left out.',
    availability: 'live',
    query: z.strictObject(bucketQuery),
    answers: { 200: { description: 'The counts', schema: countedSchema('postings') } },
    async handle({ query }) {
      const buckets = bucketsOf(query, clock());
      const ranges = await countBetween(buckets, (times) => store.log.firstPostingsAt(times));
      const data = ranges.map(({ at, from, before }) => {
        return { at: formatTimestamp(at * 1_000), postings: before - from };
      });
      return json({ data }, { headers: PUBLIC });
    },
  });
}

function leafCounts({ store, clock, config }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/log/leaves/counts',
    operationId: 'countLeaves',
    group: GROUP,
    summary: 'Count the hashes in the log',
    description:
      'How many hashes of `GET /v1/log/leaves` were scheduled for postings in each bucket of time (UTC), newest first, for plots. A bucket without hashes is left out; without `to`, those that wait for the next posting are counted too.',
    availability: 'live',
    query: z.strictObject(bucketQuery),
    answers: { 200: { description: 'The counts', schema: countedSchema('leaves') } },
    async handle({ query }) {
      const buckets = bucketsOf(query, clock() + config.log.periodSeconds * 1_000);
      const ranges = await countBetween(buckets, (times) => store.log.firstLeavesAt(times));
      const data = ranges.map(({ at, from, before }) => {
        return { at: formatTimestamp(at * 1_000), leaves: before - from };
      });
      return json({ data }, { headers: PUBLIC });
    },
  });
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
    async handle() {
      const note = await log.checkpoint();
      if (note === null) {
        throw new TallyError('not_found', 'The log has signed no checkpoint yet. Try again in a second.');
      }
      return text(note, 'text/plain; charset=utf-8', { headers: { 'cache-control': 'no-cache' } });
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
    async handle({ params }) {
      const path = `tile/${params.path}`;
      const bytes = parseTilePath(path) === null ? null : await log.tile(path);
      if (bytes === null) throw new TallyError('not_found', 'The log has no such tile.');
      return {
        status: 200,
        body: new Uint8Array(bytes),
        contentType: 'application/octet-stream',
        headers: { 'cache-control': 'public, max-age=31536000, immutable' },
      };
    },
  });
}
