import { z } from '@hono/zod-openapi';
import {
  AGENT_ERRORS,
  AGENT_HEADERS,
  type Agent,
  agentHeader,
  consumeDaily,
  tenantOf,
} from '@tallystick/callers';
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
import { alternatives } from '@tallystick/kit';
import {
  anchorOf,
  carriedNote,
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
import {
  MINT_ERRORS,
  MINT_HEADERS,
  type MintNeeds,
  RECEIPT_HEADERS,
  receiptAnswerOf,
} from './receipt-answer.ts';
import { envelopeSchema, keptReceiptSchema, profileReceiptSchema } from './receipt-shapes.ts';
import { anchorWanted, did, hex64, sha256Text } from './shapes.ts';

const GROUP = 'Receipts';

/** For routes with one kind of receipt: `?profile=pq` is refused there, since it would have no effect. */
export const noQuery = z.strictObject({});

/** Mint, emit and read receipts (specification 4.1). */
export function receiptRoutes(services: MintNeeds): Endpoint[] {
  return [free(services), emission(services), read(services)];
}

function free(services: MintNeeds): Endpoint {
  const { config, store, clock, callers } = services;
  const quota = { name: 'free-mint', limit: config.freeMintPerDay, store };
  return endpoint({
    method: 'post',
    path: '/v1/receipt/free',
    operationId: 'mintReceipt',
    credentials: ['none', 'apiKey'],
    group: GROUP,
    summary: 'Mint a free receipt',
    description:
      'Signs a receipt for the SHA-256 of `input`. The input itself is not stored. Needs no account and no key. The receipt can be verified anywhere, offline.',
    availability: 'live',
    headers: MINT_HEADERS,
    query: noQuery,
    body: z.strictObject({
      input: z.string().openapi({
        description: 'The text that the receipt is about. It is hashed as UTF-8 and not stored.',
      }),
      purpose: z.string().openapi({
        description: 'What the receipt is for, in your words. The text becomes part of the signed receipt.',
      }),
      policy_hash: sha256Text.optional().openapi({
        description:
          'Hash of the policy that applied to the request, as you declare it; signed as declared, not checked.',
      }),
      response_hash: sha256Text
        .optional()
        .openapi({ description: 'Hash of the outcome, as you declare it; signed as declared, not checked.' }),
      response_sealed: z.boolean().optional().openapi({
        description: 'Whether the response is sealed. Only together with response_hash; signed as declared.',
      }),
      anchor: anchorWanted,
    }),
    example: { input: 'The quick brown fox', purpose: 'demo' },
    answers: {
      200: { description: 'The receipt: an envelope', schema: envelopeSchema, headers: RECEIPT_HEADERS },
    },
    errors: ['empty_input', 'receipt_too_large', 'rate_limited', ...MINT_ERRORS],
    admit: (call) => callers.admit(call, 'apiKey', 'none'),
    async handle(call) {
      const { incoming, body, admitted: credential } = call;
      const { input, purpose, policy_hash, response_hash, response_sealed } = body;
      if (input === '') throw new TallyError('empty_input', 'input must not be empty.', { field: 'input' });
      if (response_sealed !== undefined && response_hash === undefined) {
        throw new TallyError(
          'missing_field',
          'response_sealed describes a response: give response_hash too.',
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
        credential,
        anchor: body.anchor ?? false,
        priced: null,
        async sign() {
          if (credential.kind === 'none' && !incoming.isProbe)
            await consumeDaily(quota, credential.group, call, clock());
          return signEnvelope(services, { input, purpose, origin, declared, operator: config.operator });
        },
      });
      return receiptAnswerOf(issued, ENVELOPE_PROFILE);
    },
  });
}

const sealReference = z
  .strictObject({
    seal_id: z.string().min(1).openapi({ description: 'The id of the sealed document.' }),
    ciphertext_sha256: hex64.openapi({ description: 'The SHA-256 of its ciphertext.' }),
    key_commitment: hex64.openapi({ description: 'The commitment to its key.' }),
  })
  .openapi({ description: 'The members that spec/sealing.md defines for a receipt of a sealed document.' });

/** The facts to be receipted, for every route that emits. */
export const emitBody = z
  .strictObject({
    agent_did: did.optional().openapi({
      description: 'The DID of the agent; X-Agent-DID when absent, otherwise did:svc:anonymous.',
    }),
    payload: z.unknown().optional().openapi({
      description: 'Any JSON value; hashed in canonical form (JCS, RFC 8785) and not stored.',
      type: 'object',
    }),
    input: z.string().optional().openapi({ description: 'A text; hashed as UTF-8 and not stored.' }),
    payload_sha256: hex64
      .optional()
      .openapi({ description: 'The SHA-256 of a payload that you do not send.' }),
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
          'The media type of the payload. When absent: JSON for payload, text/plain for input, octets for payload_sha256.',
      }),
    ok: z
      .boolean()
      .optional()
      .openapi({ description: 'Whether the action that the receipt records succeeded; true when absent.' }),
    settlement_reference: z
      .strictObject({
        rail: z.string().min(1).openapi({ description: 'How it was paid.', example: 'x402' }),
        chain_id: z.int().nonnegative().openapi({ description: 'The number of the chain (EIP-155).' }),
        asset: z.string().min(1).openapi({ description: 'What was paid.', example: 'USDC' }),
        tx: z.string().min(1).optional().openapi({ description: 'The transaction that paid it.' }),
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
      .openapi({
        description: `Whether an auditor will verify the receipt. ${carriedNote('auditor_verifier')}`,
      }),
    anchor: anchorWanted,
  })
  .openapi('EmitRequest', {
    description: 'What is to be receipted. Give one of `payload`, `input` and `payload_sha256`.',
  });

export const profileQuery = z.strictObject({
  profile: z
    .string()
    .optional()
    .openapi({ enum: [...PROFILES], default: DEFAULT_PROFILE, description: 'The profile of the receipt.' }),
});

/** Error codes of emitting, besides those of minting. */
export const EMIT_ERRORS = [
  'unknown_profile',
  'empty_input',
  'conflicting_fields',
  'receipt_too_large',
  ...AGENT_ERRORS,
] as const;

/** The limits of each profile, in one sentence. */
const LIMITS = profiles.map(({ name, limits }) => `${name} ${limits}`).join('; ');

function emission(services: MintNeeds): Endpoint {
  const { callers } = services;
  return endpoint({
    method: 'post',
    path: '/v1/receipt/emit',
    operationId: 'emitReceipt',
    credentials: ['none', 'apiKey', 'messageSignature', 'payment'],
    group: GROUP,
    summary: 'Emit a receipt of a chosen profile',
    description: `Give one of \`payload\`, \`input\` and \`payload_sha256\`. ${LIMITS}. A member that the profile does not have is refused.`,
    availability: 'live',
    headers: { ...MINT_HEADERS, ...AGENT_HEADERS },
    price: RECEIPT_PRICE,
    query: profileQuery,
    body: emitBody,
    example: { payload: { order: 42, total: '19.90' }, purpose: 'order confirmation' },
    answers: { 200: { description: 'The receipt', schema: profileReceiptSchema, headers: RECEIPT_HEADERS } },
    errors: [...EMIT_ERRORS, ...MINT_ERRORS],
    admit: (call) => callers.admit(call, 'apiKey', 'none'),
    async handle(call) {
      const { body, query } = call;
      const profile = profileOf(query.profile);
      refuseUncarried(profile, body as EmitRequest);
      refuseSecondSettlement(services, call);
      const agent = await callers.agentOf(call);
      const issued = await issueTo(services, call, {
        claim: { route: '/v1/receipt/emit', profile, body: body as JsonValue },
        credential: call.admitted,
        anchor: body.anchor ?? false,
        priced: { profile, agent },
        sign: emitting(services, { profile, agent, request: body as EmitRequest }),
      });
      return receiptAnswerOf(issued, profile);
    },
  });
}

/** Signs the facts that a caller sends, for every route that emits. */
export function emitting(
  services: MintNeeds,
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
 * A receipt that is paid with the request names that payment's transaction, so it cannot name another.
 * @throws conflicting_fields, payment_malformed
 */
function refuseSecondSettlement(
  { payments }: MintNeeds,
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
    `There is no profile “${text.slice(0, 40)}”. Choose ${alternatives(PROFILES)}.`,
    {
      field: 'profile',
    },
  );
}

function read({ store, log, callers, clock }: MintNeeds): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/receipt/{id}',
    operationId: 'getReceipt',
    credentials: ['none', 'tenantKey'],
    group: GROUP,
    summary: 'Read a receipt',
    description:
      'Returns the receipt byte for byte as it was issued, for as long as its profile is kept. A receipt that has `anchor_ref` gets the anchored reference there once it is anchored, and the anchored result as `anchor`: no signature covers either. A tenant’s receipts can be read only with the tenant’s key.',
    availability: 'live',
    headers: { Authorization: 'Optional: `Bearer` and a tenant key, to read a receipt of that tenant.' },
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
      const found = await readable({ store, callers, clock }, call);
      const anchor = await anchorOf(log, found.body);
      if (anchor === null) return text(found.body, 'application/json');
      return text(withAnchor(found.body, anchor), 'application/json', {
        headers: { 'x-anchor-ref': anchor.anchor_ref },
      });
    },
  });
}

/**
 * The receipt in the path, if its caller may read it. Says by headers who may keep the answer.
 * @throws receipt_not_found, receipt_purged; what `admit` throws
 */
export async function readable(
  { store, callers, clock }: Pick<MintNeeds, 'store' | 'callers' | 'clock'>,
  call: Exchange & { readonly params: { readonly id: string } },
): Promise<{ readonly body: string }> {
  const { id } = call.params;
  // Only its tenant's key can read a tenant's receipt, so no cache may reuse an answer for another caller.
  call.headers['vary'] = 'Authorization';
  call.headers['cache-control'] = 'private, no-store';
  const reader = tenantOf(await callers.admit(call, 'tenantKey', 'none'));
  const found = receiptIdPattern.test(id)
    ? await keptReceipt(store, id, clock())
    : ({ kind: 'unknown' } as const);
  if (found.kind === 'unknown' || (found.tenant !== null && found.tenant !== reader)) {
    throw new TallyError('receipt_not_found', 'This service has no receipt with that id.');
  }
  if (found.kind === 'purged') {
    throw new TallyError(
      'receipt_purged',
      'The receipt’s retention period has ended, so it is no longer served. Your own copy still verifies.',
    );
  }
  if (found.tenant === null) delete call.headers['cache-control'];
  return found;
}
