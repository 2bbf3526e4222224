import { z } from '@hono/zod-openapi';
import {
  DEFAULT_PROFILE,
  ENVELOPE_PROFILE,
  type JsonValue,
  PROFILES,
  type Profile,
  profiles,
  receiptIdPattern,
  TallyError,
} from '@tallystick/core';
import { agentHeader } from '../agents/agent-header.ts';
import { AGENT_ERRORS, AGENT_HEADERS } from '../agents/agents.ts';
import { text } from '../http/answer.ts';
import { isProbe } from '../http/context.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { consumeDaily } from '../http/rate-limit.ts';
import { type EmitRequest, emit } from '../receipts/emit.ts';
import { anchorOf, withAnchor } from '../receipts/keyed.ts';
import { mintFree } from '../receipts/mint.ts';
import { RECEIPT_PRICE } from '../receipts/paying.ts';
import { carriedNote, listed, refuseUncarried } from '../receipts/profile-members.ts';
import { keptReceipt } from '../receipts/retention.ts';
import type { Services } from '../services.ts';
import { MINT_ERRORS, MINT_HEADERS, mintOnce, RECEIPT_HEADERS } from './minted.ts';
import { anchorWanted, did, hex64, receiptSchema, sha256Text } from './shapes.ts';

const GROUP = 'Receipts';

/** Of a route with one kind of receipt: `?profile=pq` is refused there, as it would change nothing. */
export const noQuery = z.strictObject({});

/** Mint, emit and read receipts (specification 4.1). */
export function receiptRoutes(services: Services): Endpoint[] {
  return [free(services), emission(services), read(services)];
}

function free(services: Services): Endpoint {
  const { config, store, clock, clients, apiKeys } = services;
  const quota = { name: 'free-mint', limit: config.freeMintPerDay, store };
  return endpoint({
    method: 'post',
    path: '/v1/receipt/free',
    group: GROUP,
    summary: 'Mint a free receipt',
    description:
      'Signs a receipt for the SHA-256 of `input`. The input itself is not stored. No account and no key; verify the receipt anywhere, offline.',
    availability: 'live',
    headers: MINT_HEADERS,
    query: noQuery,
    body: z.strictObject({
      input: z
        .string()
        .openapi({ description: 'What the receipt is about. Hashed as UTF-8 and then forgotten.' }),
      purpose: z.string().openapi({ description: 'What the receipt is for, in your words. It is signed.' }),
      policy_hash: sha256Text
        .optional()
        .openapi({ description: 'The policy that held for the request, as you say: signed as declared.' }),
      response_hash: sha256Text
        .optional()
        .openapi({ description: 'What came of it, as you say: signed as declared.' }),
      response_sealed: z
        .boolean()
        .optional()
        .openapi({ description: 'Whether the response is sealed. With response_hash; signed as declared.' }),
      anchor: anchorWanted,
    }),
    example: { input: 'The quick brown fox', purpose: 'demo' },
    answers: {
      200: { description: 'The receipt: an envelope', schema: receiptSchema, headers: RECEIPT_HEADERS },
    },
    errors: ['empty_input', 'receipt_too_large', 'rate_limited', ...MINT_ERRORS],
    admit: (call) => apiKeys.find(call),
    async handle(call) {
      const { c, body, admitted: key } = call;
      const { input, purpose, policy_hash, response_hash, response_sealed } = body;
      if (input === '') throw new TallyError('empty_input', 'input is an empty text.', { field: 'input' });
      if (response_sealed !== undefined && response_hash === undefined) {
        throw new TallyError(
          'missing_field',
          'response_sealed is said of a response: give response_hash too.',
          {
            field: 'response_hash',
          },
        );
      }
      const declared = {
        policyHash: policy_hash,
        responseHash: response_hash,
        responseSealed: response_sealed,
      };
      const origin = agentHeader(c);
      return mintOnce(services, call, {
        claim: { route: '/v1/receipt/free', body: body as JsonValue },
        profile: ENVELOPE_PROFILE,
        key,
        anchor: body.anchor ?? false,
        async mint(keeping) {
          if (key === null && !isProbe(c)) await consumeDaily(quota, clients.group(c), call, clock());
          return mintFree(services, { input, purpose, origin, declared, operator: config.operator }, keeping);
        },
      });
    },
  });
}

const sealReference = z
  .strictObject({ seal_id: z.string().min(1), ciphertext_sha256: hex64, key_commitment: hex64 })
  .openapi({ description: 'What spec/sealing.md says a receipt carries of a sealed document.' });

/** What is to be receipted, for every route that emits. */
export const emitBody = z.strictObject({
  agent_did: did
    .optional()
    .openapi({ description: 'The agent; X-Agent-DID when absent, else did:svc:anonymous.' }),
  payload: z
    .unknown()
    .optional()
    .openapi({ description: 'Any JSON; hashed as JCS (RFC 8785) and not stored.', type: 'object' }),
  input: z.string().optional().openapi({ description: 'A text; hashed as UTF-8 and not stored.' }),
  payload_sha256: hex64.optional().openapi({ description: 'The SHA-256 of a payload that stays with you.' }),
  purpose: z
    .string()
    .optional()
    .openapi({ description: `What the receipt is for. ${carriedNote('purpose')}` }),
  content_type: z
    .string()
    .regex(
      /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\]*"))*$/,
      'Not a media type',
    )
    .optional()
    .openapi({
      description:
        'Of the payload. JSON for payload, text/plain for input, octets for a bare hash when absent.',
    }),
  ok: z
    .boolean()
    .optional()
    .openapi({ description: 'Whether what is receipted succeeded; true when absent.' }),
  settlement_reference: z
    .strictObject({
      rail: z.string().min(1),
      chain_id: z.int().nonnegative(),
      asset: z.string().min(1),
      tx: z.string().min(1).optional(),
    })
    .optional()
    .openapi({
      description: `Where you say that it was paid: signed as declared, never as confirmed. ${carriedNote('settlement_reference')}`,
    }),
  seal: sealReference.optional(),
  sealed_evidence_ref: z
    .string()
    .nullable()
    .optional()
    .openapi({ description: `Where sealed evidence is kept. ${carriedNote('sealed_evidence_ref')}` }),
  auditor_verifier: z
    .boolean()
    .optional()
    .openapi({ description: `Whether an auditor verifies. ${carriedNote('auditor_verifier')}` }),
  anchor: anchorWanted,
});

export const profileQuery = z.strictObject({
  profile: z
    .string()
    .optional()
    .openapi({ enum: [...PROFILES], default: DEFAULT_PROFILE }),
});

/** What emitting refuses beside what minting does. */
export const EMIT_ERRORS = [
  'unknown_profile',
  'empty_input',
  'conflicting_fields',
  'receipt_too_large',
  ...AGENT_ERRORS,
] as const;

/** The limits of each profile, in one sentence. */
const LIMITS = profiles.map(({ name, limits }) => `${name} ${limits}`).join('; ');

function emission(services: Services): Endpoint {
  const { config, apiKeys, agents } = services;
  return endpoint({
    method: 'post',
    path: '/v1/receipt/emit',
    group: GROUP,
    summary: 'Emit a receipt of a profile',
    description: `Give one of \`payload\`, \`input\` and \`payload_sha256\`. ${LIMITS}. A member that the profile does not have is refused.`,
    availability: 'live',
    headers: { ...MINT_HEADERS, ...AGENT_HEADERS },
    price: RECEIPT_PRICE,
    query: profileQuery,
    body: emitBody,
    example: { payload: { order: 42, total: '19.90' }, purpose: 'order confirmation' },
    answers: { 200: { description: 'The receipt', schema: receiptSchema, headers: RECEIPT_HEADERS } },
    errors: [...EMIT_ERRORS, ...MINT_ERRORS],
    admit: (call) => apiKeys.find(call),
    async handle(call) {
      const { body, query } = call;
      const profile = profileOf(query.profile);
      refuseUncarried(profile, body as EmitRequest);
      refuseSecondSettlement(services, call);
      const agent = await agents.agentOf(call);
      return mintOnce(services, call, {
        claim: { route: '/v1/receipt/emit', profile, body: body as JsonValue },
        profile,
        key: call.admitted,
        anchor: body.anchor ?? false,
        priced: { profile, agent },
        mint: (keeping, payment) =>
          emit(services, body as EmitRequest, {
            profile,
            agent,
            verifyUri: `${config.receiptsUrl}/verify`,
            chainId: config.chain.id,
            settlement: payment?.settlement ?? null,
            keeping,
          }),
      });
    },
  });
}

/**
 * A receipt that is paid for with the request names the transaction of that payment, so there is no room for another one.
 * @throws conflicting_fields, payment_malformed
 */
function refuseSecondSettlement(
  { payments }: Services,
  call: Exchange & { readonly body: { readonly settlement_reference?: unknown } },
): void {
  if (call.body.settlement_reference === undefined || payments === null) return;
  if (payments.offered(call) === null) return;
  throw new TallyError(
    'conflicting_fields',
    'The receipt names the transaction of the payment that comes with this request. Leave settlement_reference out.',
    { field: 'settlement_reference' },
  );
}

/** The profile of a query. @throws unknown_profile */
export function profileOf(text: string | undefined): Profile {
  if (text === undefined) return DEFAULT_PROFILE;
  const profile = PROFILES.find((known) => known === text);
  if (profile !== undefined) return profile;
  throw new TallyError(
    'unknown_profile',
    `There is no profile “${text.slice(0, 40)}”. Choose ${listed(PROFILES)}.`,
    {
      field: 'profile',
    },
  );
}

function read({ store, log, tenants, clock }: Services): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/receipt/{id}',
    group: GROUP,
    summary: 'Read a receipt',
    description:
      'The receipt to the byte as it was answered, for as long as its profile is kept. Once it is anchored, one that carries `anchor_ref` carries the anchored reference in its place, and the anchored result as `anchor`: no signature covers either. A tenant’s receipts are readable with its key alone.',
    availability: 'live',
    headers: { Authorization: 'Optional: `Bearer` and an API key of a tenant, for a receipt of its own.' },
    params: z.object({ id: z.string() }),
    answers: {
      200: {
        description: 'The receipt',
        schema: receiptSchema,
        headers: { 'X-Anchor-Ref': RECEIPT_HEADERS['X-Anchor-Ref'] },
      },
    },
    errors: ['receipt_not_found', 'receipt_purged', 'api_key_invalid', 'api_key_revoked'],
    async handle(call) {
      const { id } = call.params;
      // A tenant's receipt is there for its key alone, so no cache may give one caller's answer to another.
      call.headers['vary'] = 'Authorization';
      call.headers['cache-control'] = 'private, no-store';
      const reader = await tenants.of(call);
      const found = receiptIdPattern.test(id)
        ? await keptReceipt(store, id, clock())
        : ({ kind: 'unknown' } as const);
      if (found.kind === 'unknown' || (found.tenant !== null && found.tenant !== reader)) {
        throw new TallyError('receipt_not_found', 'This service has no receipt of that id.');
      }
      if (found.kind === 'purged') {
        throw new TallyError(
          'receipt_purged',
          'The receipt’s retention is over, so it is no longer given out. Your copy still verifies.',
        );
      }
      if (found.tenant === null) delete call.headers['cache-control'];
      const anchor = await anchorOf(log, found.body);
      if (anchor === null) return text(found.body, 'application/json');
      return text(withAnchor(found.body, anchor), 'application/json', {
        headers: { 'x-anchor-ref': anchor.anchor_ref },
      });
    },
  });
}
