import { z } from '@hono/zod-openapi';
import { CALLER_ERRORS, consumeDaily } from '@tallystick/callers';
import { formatTimestamp, type StreamHead, TallyError } from '@tallystick/core';
import { ownDocument } from '@tallystick/kit';
import { openStream, readHashes, requireStream, signHead } from '@tallystick/receipts';
import { json, text } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { ACCOUNT_CREDENTIALS } from '../http/security.ts';
import type { Services } from '../services.ts';
import { admitOwner, ownerOf } from './listings.ts';
import { count, didText, hexDigest, publicKeyText, timestamp } from './shapes.ts';

type Needs = Pick<Services, 'store' | 'callers' | 'clock' | 'issuer' | 'log'>;

const GROUP = 'Receipts';
const CREDENTIALS = [...ACCOUNT_CREDENTIALS, 'tenantKey'] as const;
/** New heads of one stream in a UTC day: each is a leaf of the log. */
const HEADS_A_DAY = 100;
const MOST = 5_000;
const PRIVATE = { 'cache-control': 'private, no-store', vary: 'Authorization' };
const HEADERS = {
  Authorization: 'Optional: `Bearer` and an API key, or a tenant key.',
  'X-Agent-DID': 'The DID whose stream is asked for; the request is signed with its key.',
};

/** Streams: what an account was issued, in order, as signed heads count it (spec/streams.md). */
export function streamRoutes(services: Needs): Endpoint[] {
  return [read(services), sign(services)];
}

const headSchema = z
  .object({
    type: z.literal('svc-stream-head-v1').openapi({ description: 'Always this.' }),
    stream: z
      .string()
      .openapi({ description: 'The id of the stream.', example: 'tenant:t_0123456789abcdef' }),
    count: count.openapi({ description: 'Number of receipts that it counts.' }),
    head: hexDigest.openapi({ description: 'The chain over their hashes.' }),
    since: timestamp.openapi({ description: 'When the stream was opened.' }),
    at: timestamp.openapi({ description: 'When the head was signed.' }),
    previous_sha256: hexDigest.nullable().openapi({ description: 'The head before; null in the first.' }),
    issuer_did: didText.openapi({ description: 'The service.' }),
    issuer_pubkey: publicKeyText,
    key_id: z.string().openapi({ description: 'The id of the key, whose purpose is `head`.' }),
    sig_b64u: z.string().openapi({ description: 'The signature over JCS of the other members.' }),
  })
  .openapi('StreamHead', {
    description: 'How many receipts a stream has, and which, signed (spec/streams.md).',
  });

function sign(services: Needs): Endpoint {
  const { store, clock } = services;
  const quota = { name: 'stream-heads', limit: HEADS_A_DAY, store };
  return endpoint({
    method: 'post',
    path: '/v1/stream/heads',
    operationId: 'signStreamHead',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Sign a head of your stream',
    description:
      'Signs how many receipts were issued to you, and which: a head of the chain over their hashes, whose own hash goes into the log. The first request of an API key or a DID opens its stream, which counts the receipts from then on; that of a tenant is always open. 100 heads may be signed per UTC day; one is signed each day by itself.',
    availability: 'live',
    headers: HEADERS,
    answers: { 200: { description: 'The head', schema: headSchema } },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'rate_limited', 'anchor_unavailable', 'unavailable'],
    admit: admitOwner(services),
    async handle(call) {
      const owner = await wholeOwner(services, call);
      await consumeDaily(quota, owner, call, clock());
      await openStream(services, owner);
      const { body } = await signHead(services, owner);
      return text(body, 'application/json', { headers: PRIVATE });
    },
  });
}

const query = z.strictObject({
  first: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'Not a place, counted from 1')
    .optional()
    .openapi({ description: 'The place of the first hash, counted from 1; 1 when absent.' }),
  limit: z
    .string()
    .regex(/^(?:[1-9]\d{0,2}|[1-4]\d{3}|5000)$/, `Not 1 to ${MOST}`)
    .optional()
    .openapi({ description: `Most hashes: 1 to ${MOST}, ${MOST} when absent.` }),
});

function read(services: Needs): Endpoint {
  const { store } = services;
  return endpoint({
    method: 'get',
    path: '/v1/stream',
    operationId: 'readStream',
    credentials: CREDENTIALS,
    group: GROUP,
    summary: 'Read your stream',
    description:
      'The anchored hashes of the receipts that were issued to you, in the order in which they were stored, with the heads over them. With the receipts, they show that none was left out (spec/streams.md). Hashes stay when receipts are deleted.',
    availability: 'live',
    headers: HEADERS,
    query,
    answers: {
      200: {
        description: 'Part of the stream',
        schema: z.object({
          stream: z.string().openapi({ description: 'The id of the stream.' }),
          since: timestamp.openapi({ description: 'When it was opened.' }),
          count: count.openapi({ description: 'Number of its receipts now.' }),
          first: count.openapi({ description: 'The place of the first of these hashes, counted from 1.' }),
          hashes: z.array(hexDigest).openapi({ description: 'Anchored hashes, in order.' }),
          heads: z.array(headSchema).openapi({
            description: 'The heads within these hashes, and the one before them, in order; at most 1,000.',
          }),
        }),
      },
    },
    errors: [...CALLER_ERRORS, 'key_cannot_manage', 'stream_not_found'],
    admit: admitOwner(services),
    async handle(call) {
      const owner = await wholeOwner(services, call);
      const { since, size } = await requireStream(services, owner);
      const first = Number(call.query.first ?? 1);
      const limit = Number(call.query.limit ?? MOST);
      const last = Math.min(size, first + limit - 1);
      const hashes: string[] = [];
      for await (const hash of readHashes(store.streams, owner, { first, last })) hashes.push(hash);
      const before = await store.streams.headBefore(owner, Number.MAX_SAFE_INTEGER, first - 1);
      const heads = await store.streams.heads(owner, (before?.sequence ?? 1) - 1, 1_000);
      const within = heads.filter((head) => head.size <= last);
      return json(
        {
          stream: owner,
          since: formatTimestamp(since * 1000),
          count: size,
          first,
          hashes,
          heads: within.map(({ body }) => ownDocument<StreamHead>(body)),
        },
        { headers: PRIVATE },
      );
    },
  });
}

/** @throws key_cannot_manage for a key of an account that is not its own: a stream is the whole account's */
async function wholeOwner(services: Needs, call: Parameters<typeof ownerOf>[1]): Promise<string> {
  const { owner, key } = await ownerOf(services, call);
  if (key === null) return owner;
  throw new TallyError(
    'key_cannot_manage',
    'The stream belongs to the account, and this key only makes calls for it.',
  );
}
