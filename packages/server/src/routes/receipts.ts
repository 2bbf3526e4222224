import { z } from '@hono/zod-openapi';
import { AGENT_ERRORS, AGENT_HEADERS, type Agent, agentHeader, consumeDaily } from '@tallystick/callers';
import { type JsonValue, PROFILES, type Profile, receiptIdPattern, TallyError } from '@tallystick/core';
import {
  anchorOf,
  type EmitRequest,
  issueTo,
  keptReceipt,
  RECEIPT_PRICE,
  type ReceiptRequest,
  refuseUncarried,
  signEnvelope,
  signProfile,
  withAnchor,
} from '@tallystick/receipts';
import { text } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Services } from '../services.ts';
import { MINT_ERRORS, MINT_HEADERS, RECEIPT_HEADERS, receiptAnswerOf } from './minted.ts';
import { envelopeSchema, keptReceiptSchema, profileReceiptSchema } from './receipt-shapes.ts';
import { anchorWanted, did, hex64, sha256Text } from './shapes.ts';

/** What these routes use of the service. */
type Needs = Pick<
  Services,
  | 'config'
  | 'clock'
  | 'store'
  | 'issuer'
  | 'clients'
  | 'apiKeys'
  | 'tenants'
  | 'agents'
  | 'mutex'
  | 'log'
  | 'payments'
>;

const GROUP = 'Receipts';

/** Of a route with one kind of receipt: `?profile=pq` is refused there, as it would change nothing. */
export const noQuery = z.strictObject({});

/** Mint, emit and read receipts (specification 4.1). */
export function receiptRoutes(services: Needs): Endpoint[] {
  return [free(services), emission(services), read(services)];
}

function free(services: Needs): Endpoint {
  const { config, store, clock, clients, apiKeys } = services;
  const quota = { name: 'free-mint', limit: config.freeMintPerDay, store };
  return endpoint({
    method: 'post',
    path: '/v1/receipt/free',
    operationId: 'mintReceipt',
    credentials: ['none', 'apiKey'],
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
      200: { description: 'The receipt: an envelope', schema: envelopeSchema, headers: RECEIPT_HEADERS },
    },
    errors: ['empty_input', 'receipt_too_large', 'rate_limited', ...MINT_ERRORS],
    admit: (call) => apiKeys.find(call),
    async handle(call) {
      const { incoming, body, admitted: key } = call;
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
      const origin = agentHeader(incoming);
      const issued = await issueTo(services, call, {
        claim: { route: '/v1/receipt/free', body: body as JsonValue },
        key,
        tenant: null,
        anchor: body.anchor ?? false,
        priced: null,
        async sign() {
          if (key === null && !incoming.isProbe)
            await consumeDaily(quota, clients.group(incoming), call, clock());
          return signEnvelope(services, { input, purpose, origin, declared, operator: config.operator });
        },
      });
      return receiptAnswerOf(issued, 'standard');
    },
  });
}

const sealReference = z
  .strictObject({
    seal_id: z.string().min(1).openapi({ description: 'The id of the sealed document.' }),
    ciphertext_sha256: hex64.openapi({ description: 'The SHA-256 of its ciphertext.' }),
    key_commitment: hex64.openapi({ description: 'The commitment to its key.' }),
  })
  .openapi({ description: 'What spec/sealing.md says a receipt carries of a sealed document.' });

/** What is to be receipted, for every route that emits. */
export const emitBody = z
  .strictObject({
    agent_did: did
      .optional()
      .openapi({ description: 'The agent; X-Agent-DID when absent, else did:svc:anonymous.' }),
    payload: z
      .unknown()
      .optional()
      .openapi({ description: 'Any JSON; hashed as JCS (RFC 8785) and not stored.', type: 'object' }),
    input: z.string().optional().openapi({ description: 'A text; hashed as UTF-8 and not stored.' }),
    payload_sha256: hex64
      .optional()
      .openapi({ description: 'The SHA-256 of a payload that stays with you.' }),
    purpose: z.string().optional().openapi({ description: 'What the receipt is for. Not in nano.' }),
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
        rail: z.string().min(1).openapi({ description: 'How it was paid.', example: 'x402' }),
        chain_id: z.int().nonnegative().openapi({ description: 'The number of the chain (EIP-155).' }),
        asset: z.string().min(1).openapi({ description: 'What was paid.', example: 'USDC' }),
        tx: z.string().min(1).optional().openapi({ description: 'The transaction that paid it.' }),
      })
      .optional()
      .openapi({
        description: 'Where you say that it was paid: signed as declared, never as confirmed. Not in nano.',
      }),
    seal: sealReference.optional(),
    sealed_evidence_ref: z
      .string()
      .nullable()
      .optional()
      .openapi({ description: 'Where sealed evidence is kept. pq only.' }),
    auditor_verifier: z
      .boolean()
      .optional()
      .openapi({ description: 'Whether an auditor verifies. pq only.' }),
    anchor: anchorWanted,
  })
  .openapi('EmitRequest', {
    description: 'What is to be receipted. Give one of `payload`, `input` and `payload_sha256`.',
  });

export const profileQuery = z.strictObject({
  profile: z
    .string()
    .optional()
    .openapi({ enum: [...PROFILES], default: 'standard', description: 'The profile of the receipt.' }),
});

/** What emitting refuses beside what minting does. */
export const EMIT_ERRORS = [
  'unknown_profile',
  'empty_input',
  'conflicting_fields',
  'receipt_too_large',
  ...AGENT_ERRORS,
] as const;

function emission(services: Needs): Endpoint {
  const { apiKeys, agents } = services;
  return endpoint({
    method: 'post',
    path: '/v1/receipt/emit',
    operationId: 'emitReceipt',
    credentials: ['none', 'apiKey', 'messageSignature', 'payment'],
    group: GROUP,
    summary: 'Emit a receipt of a profile',
    description:
      'Give one of `payload`, `input` and `payload_sha256`. nano takes at most 600 bytes and has no purpose, settlement or seal; standard at most 3,072; pq is kept about seven years. A member that the profile does not have is refused.',
    availability: 'live',
    headers: { ...MINT_HEADERS, ...AGENT_HEADERS },
    price: RECEIPT_PRICE,
    query: profileQuery,
    body: emitBody,
    example: { payload: { order: 42, total: '19.90' }, purpose: 'order confirmation' },
    answers: { 200: { description: 'The receipt', schema: profileReceiptSchema, headers: RECEIPT_HEADERS } },
    errors: [...EMIT_ERRORS, ...MINT_ERRORS],
    admit: (call) => apiKeys.find(call),
    async handle(call) {
      const { body, query } = call;
      const profile = profileOf(query.profile);
      refuseUncarried(profile, body as EmitRequest);
      refuseSecondSettlement(services, call);
      const agent = await agents.agentOf(call);
      const issued = await issueTo(services, call, {
        claim: { route: '/v1/receipt/emit', profile, body: body as JsonValue },
        key: call.admitted,
        tenant: null,
        anchor: body.anchor ?? false,
        priced: { profile, agent },
        sign: emitting(services, { profile, agent, request: body as EmitRequest }),
      });
      return receiptAnswerOf(issued, profile);
    },
  });
}

/** Signs what a caller asks to be receipted, for every route that emits. */
export function emitting(
  services: Needs,
  {
    profile,
    agent,
    request,
  }: { readonly profile: Profile; readonly agent: Agent; readonly request: EmitRequest },
): ReceiptRequest['sign'] {
  const { config } = services;
  return (settlement) =>
    signProfile(services, request, {
      profile,
      agent,
      verifyUri: `${config.receiptsUrl}/verify`,
      chainId: config.chain.id,
      settlement,
    });
}

/**
 * A receipt that is paid for with the request names the transaction of that payment, so there is no room for another one.
 * @throws conflicting_fields, payment_malformed
 */
function refuseSecondSettlement(
  { payments }: Needs,
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
  if (text === undefined) return 'standard';
  const profile = PROFILES.find((known) => known === text);
  if (profile !== undefined) return profile;
  throw new TallyError(
    'unknown_profile',
    `There is no profile “${text.slice(0, 40)}”. Choose nano, standard or pq.`,
    {
      field: 'profile',
    },
  );
}

function read({ store, log, tenants, clock }: Needs): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/receipt/{id}',
    operationId: 'getReceipt',
    credentials: ['none', 'tenantKey'],
    group: GROUP,
    summary: 'Read a receipt',
    description:
      'The receipt to the byte as it was answered, for as long as its profile is kept. Once it is anchored, one that carries `anchor_ref` carries the anchored reference in its place, and the anchored result as `anchor`: no signature covers either. A tenant’s receipts are readable with its key alone.',
    availability: 'live',
    headers: { Authorization: 'Optional: `Bearer` and an API key of a tenant, for a receipt of its own.' },
    params: z.object({
      id: z
        .string()
        .openapi({ description: 'The id of the receipt.', example: 'r_env_1803902400_0123456789ab' }),
    }),
    answers: {
      200: {
        description: 'The receipt',
        schema: keptReceiptSchema,
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
