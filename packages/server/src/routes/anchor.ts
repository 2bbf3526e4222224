import { z } from '@hono/zod-openapi';
import { API_KEY_ERRORS, acceptHashes } from '@tallystick/callers';
import { batchId, parseAnchorRef, TallyError } from '@tallystick/core';
import { idempotencyKey } from '@tallystick/kit';
import type { AnchorLog, Leaf } from '@tallystick/log';
import { type Answer, json, text } from '../http/answer.ts';
import { type AppContext, header } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Services } from '../services.ts';
import { readHash } from './hash-text.ts';
import { anchorResultSchema } from './shapes.ts';

type Needs = Pick<Services, 'clock' | 'callers' | 'log'>;

const GROUP = 'Anchor';
const MAX_BATCH = 10_000;
/** Twice the size of the largest batch without white space. */
const BATCH_BYTES = 1_048_576;

const ACCEPT_HEADERS = {
  Authorization: '`Bearer` and an API key: `k_pro_…`, `k_scale_…` or `k_ent_…`.',
  'Idempotency-Key':
    'Accepted, but not needed: a hash has one permanent place in the log, so that sending it again returns its current state and costs nothing.',
};
const ACCEPT_ERRORS = [
  ...API_KEY_ERRORS,
  'quota_exceeded',
  'invalid_base64url',
  'idempotency_key_invalid',
  'anchor_unavailable',
  'unavailable',
] as const;

const EXAMPLE = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';
const hash = z.string().openapi({
  description:
    'SHA-256 of the canonical JSON (JCS, RFC 8785) of the document to anchor: base64url, 43 characters.',
  pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
  example: EXAMPLE,
});

/** Hand in hashes and ask where they are (specification 2.9, 3.1, 4.2). */
export function anchorRoutes(services: Needs): Endpoint[] {
  const { log } = services;
  return [one(services), batch(services), byReference(log), byHash(log)];
}

function one(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/anchor',
    operationId: 'anchorHash',
    credentials: ['apiKey'],
    group: GROUP,
    summary: 'Anchor a hash',
    description:
      'Adds the hash to the log; it is on disk before the answer is sent. The next posting takes it to the chain. For a hash that is already in the log, the answer is its current state, whichever key sent it, and no quota is used. The service receives only the hash, never the document.',
    availability: 'live',
    headers: ACCEPT_HEADERS,
    body: z.strictObject({ canonical_sha256: hash }),
    example: { canonical_sha256: EXAMPLE },
    answers: { 200: { description: 'Pending, or anchored already', schema: anchorResultSchema } },
    errors: ACCEPT_ERRORS,
    admit: (call) => services.callers.admit(call, 'apiKey'),
    async handle(call) {
      idempotencyKey(call.incoming);
      const bytes = readHash(call.body.canonical_sha256, 'canonical_sha256');
      const [result] = await acceptHashes(services, call.admitted, call, [bytes]);
      return json(result);
    },
  });
}

function batch(services: Needs): Endpoint {
  return endpoint({
    method: 'post',
    path: '/v1/anchor/batch',
    operationId: 'anchorHashes',
    credentials: ['apiKey'],
    group: GROUP,
    summary: 'Anchor many hashes',
    description: `Anchors up to ${MAX_BATCH} hashes at once: either all of them are added to the log, or none.`,
    availability: 'live',
    headers: ACCEPT_HEADERS,
    maxBodyBytes: BATCH_BYTES,
    body: z.strictObject({
      canonical_sha256: z
        .array(hash)
        .min(1, 'An empty list')
        .openapi({ maxItems: MAX_BATCH, description: 'The hashes.' }),
    }),
    example: { canonical_sha256: [EXAMPLE] },
    answers: {
      200: {
        description: 'One result for each hash, in the order of the request',
        schema: z.object({
          results: z.array(anchorResultSchema).openapi({ description: 'The results.' }),
        }),
      },
    },
    errors: [...ACCEPT_ERRORS, 'too_many_hashes'],
    admit: (call) => services.callers.admit(call, 'apiKey'),
    async handle(call) {
      idempotencyKey(call.incoming);
      const { canonical_sha256: texts } = call.body;
      if (texts.length > MAX_BATCH) {
        throw new TallyError(
          'too_many_hashes',
          `A batch holds at most ${MAX_BATCH} hashes; this one has ${texts.length}.`,
          { field: 'canonical_sha256' },
        );
      }
      const hashes = texts.map((text, index) => readHash(text, `canonical_sha256[${index}]`));
      return json({ results: await acceptHashes(services, call.admitted, call, hashes) });
    },
  });
}

const RESOLVE_HEADERS = {
  Accept: '`text/plain` for a C2SP tlog-proof, available once a checkpoint covers the hash.',
};
const RESOLVE_ANSWERS = {
  200: {
    description: 'Pending, or anchored with the proof',
    schema: anchorResultSchema,
    otherwise: {
      'text/plain': z
        .string()
        .openapi({ description: 'A C2SP tlog-proof, once a checkpoint covers the hash.' }),
    },
    headers: { 'Cache-Control': 'Anchored results may be kept for a day; pending ones are not stored.' },
  },
};

function byReference(log: AnchorLog): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/anchor/{anchor_ref}',
    operationId: 'getAnchor',
    group: GROUP,
    summary: 'Look up an anchor by its reference',
    description:
      'Accepts the pending and the anchored form of the reference. Needs no key. The colons may be percent-encoded.',
    availability: 'live',
    headers: RESOLVE_HEADERS,
    params: z.object({
      anchor_ref: z.string().openapi({
        description: 'A pending or an anchored reference.',
        example: 'urn:anchor:pending:2027-03-01T13:00Z:0',
      }),
    }),
    answers: RESOLVE_ANSWERS,
    errors: ['anchor_ref_invalid', 'anchor_not_found'],
    async handle({ c, params: { anchor_ref } }) {
      return resolved(log, await named(log, anchor_ref), c);
    },
  });
}

function byHash(log: AnchorLog): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/anchor/by-hash/{hash}',
    operationId: 'getAnchorByHash',
    group: GROUP,
    summary: 'Look up an anchor by its hash',
    description: 'Finds any hash that the log has accepted, whoever sent it. Needs no key.',
    availability: 'live',
    headers: RESOLVE_HEADERS,
    params: z.object({ hash }),
    answers: RESOLVE_ANSWERS,
    errors: ['invalid_base64url', 'anchor_not_found'],
    async handle({ c, params }) {
      return resolved(log, await log.find(readHash(params.hash, 'hash')), c);
    },
  });
}

/** The leaf that a reference of this log names. @throws anchor_ref_invalid, anchor_not_found */
export async function named(log: AnchorLog, anchorRef: string): Promise<Leaf> {
  const ref = readReference(anchorRef);
  const leaf = await log.leaf(ref.index);
  const isIssued =
    ref.kind === 'pending'
      ? batchId(leaf.batchAt) === ref.batchId
      : (await log.resolve(leaf)).anchor_ref === anchorRef;
  if (isIssued) return leaf;
  throw new TallyError('anchor_not_found', 'This log has not issued that reference.');
}

function readReference(text: string): ReturnType<typeof parseAnchorRef> {
  try {
    return parseAnchorRef(text);
  } catch (cause) {
    if (!(cause instanceof TallyError)) throw cause;
    throw new TallyError(cause.code, cause.message, { field: 'anchor_ref', cause });
  }
}

const DAY = 'public, max-age=86400';

async function resolved(log: AnchorLog, leaf: Leaf, c: AppContext): Promise<Answer> {
  const proof = wantsText(header(c, 'accept')) ? await proofOf(log, leaf) : null;
  if (proof !== null) {
    return text(proof, 'text/plain; charset=utf-8', { headers: { vary: 'Accept', 'cache-control': DAY } });
  }
  const result = await log.resolve(leaf);
  return json(result, {
    headers: { vary: 'Accept', 'cache-control': 'merkle_root' in result ? DAY : 'no-store' },
  });
}

/** Null until a checkpoint covers the leaf, which the caller knows to be accepted. */
async function proofOf(log: AnchorLog, leaf: Leaf): Promise<string | null> {
  try {
    return await log.tlogProof(leaf);
  } catch (error) {
    if (error instanceof TallyError && error.code === 'anchor_not_found') return null;
    throw error;
  }
}

function wantsText(accept: string | undefined): boolean {
  const types = accept?.split(',').map((range) => range.split(';')[0]?.trim().toLowerCase()) ?? [];
  return types.includes('text/plain') && !types.includes('application/json');
}
