import { z } from '@hono/zod-openapi';
import { ENVELOPE_PROFILE, formatTimestamp, type JsonValue } from '@tallystick/core';
import { type CorrectionLink, correct, keptReceipt, linksOf } from '@tallystick/receipts';
import { json } from '../http/answer.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import {
  MINT_ERRORS,
  MINT_HEADERS,
  type MintNeeds,
  RECEIPT_HEADERS,
  receiptAnswerOf,
} from './receipt-answer.ts';
import { envelopeSchema } from './receipt-shapes.ts';
import { noQuery, readable } from './receipts.ts';
import { receiptIdText, sha256Text, storable, timestamp } from './shapes.ts';

const GROUP = 'Receipts';

/** Corrections: receipts that supersede others (spec/corrections.md). */
export function correctionRoutes(services: MintNeeds): Endpoint[] {
  return [correction(services), corrections(services)];
}

function correction(services: MintNeeds): Endpoint {
  const { callers, config } = services;
  return endpoint({
    method: 'post',
    path: '/v1/receipt/corrections',
    operationId: 'correctReceipt',
    credentials: ['apiKey', 'tenantKey'],
    group: GROUP,
    summary: 'Correct a receipt by another one',
    description:
      'Signs an envelope that says that one receipt supersedes another, and anchors it. Issue the right receipt first. Both must be envelopes or metering receipts of this account, which are kept still. Neither is changed: the first verifies as before, and whoever has both and the envelope sees which of them holds. A receipt is corrected once; correct the correction if that is wrong too.',
    availability: 'live',
    headers: {
      'Idempotency-Key': MINT_HEADERS['Idempotency-Key'],
      Authorization:
        'Required: `Bearer` and the API key or tenant key of the account that has both receipts.',
    },
    query: noQuery,
    body: z.strictObject({
      corrects: receiptIdText
        .refine(...storable)
        .openapi({ description: 'The id of the receipt that is superseded.' }),
      correction: receiptIdText
        .refine(...storable)
        .openapi({ description: 'The id of the receipt that supersedes it.' }),
      reason: z
        .string()
        .min(1)
        .max(500)
        .optional()
        .openapi({ description: 'Why, in your words. The text becomes part of the signed envelope.' }),
    }),
    example: {
      corrects: 'r_env_1803902400_0123456789ab',
      correction: 'r_env_1803902460_ba9876543210',
      reason: 'Two units were counted twice.',
    },
    answers: {
      200: { description: 'The envelope that links both', schema: envelopeSchema, headers: RECEIPT_HEADERS },
    },
    errors: [
      'receipt_not_found',
      'receipt_purged',
      'already_corrected',
      'not_a_receipt',
      'receipt_too_large',
      'invalid_field',
      ...MINT_ERRORS,
    ],
    admit: (call) => callers.admit(call, 'apiKey', 'tenantKey'),
    async handle(call) {
      const { body, admitted: credential } = call;
      const { corrects, correction: second, reason = null } = body;
      const issued = await correct(services, call, {
        corrects,
        correction: second,
        reason,
        credential,
        operator: config.operator,
        body: body as JsonValue,
      });
      return receiptAnswerOf(issued, ENVELOPE_PROFILE);
    },
  });
}

const link = z
  .object({
    link_id: receiptIdText.openapi({ description: 'The id of the envelope that links both receipts.' }),
    receipt_id: receiptIdText.openapi({ description: 'The id of the other receipt.' }),
    receipt_sha256: sha256Text.openapi({ description: 'Its anchored hash.' }),
    reason: z.string().nullable().openapi({ description: 'Why, in words; null if nobody said.' }),
    at: timestamp.openapi({ description: 'When the envelope was issued.' }),
  })
  .openapi('CorrectionLink', { description: 'A correction, seen from one of its receipts.' });

function corrections({ store, callers, clock }: MintNeeds): Endpoint {
  return endpoint({
    method: 'get',
    path: '/v1/receipt/{id}/corrections',
    operationId: 'getCorrections',
    credentials: ['none', 'tenantKey'],
    group: GROUP,
    summary: 'Read what corrects a receipt',
    description:
      'Which receipt supersedes this one, and which one it supersedes, by the envelopes that link them. Whoever can read the receipt can read this.',
    availability: 'live',
    headers: { Authorization: 'Optional: `Bearer` and a tenant key, to read of a receipt of that tenant.' },
    params: z.object({
      id: z
        .string()
        .openapi({ description: 'The id of the receipt.', example: 'r_env_1803902400_0123456789ab' }),
    }),
    answers: {
      200: {
        description: 'The corrections',
        schema: z.object({
          receipt_id: receiptIdText.openapi({ description: 'The id of this receipt.' }),
          corrected_by: link.nullable().openapi({ description: 'What supersedes it; null if nothing does.' }),
          corrects: link.nullable().openapi({ description: 'What it supersedes; null if nothing.' }),
        }),
      },
    },
    errors: ['receipt_not_found', 'receipt_purged', 'api_key_invalid', 'api_key_revoked'],
    async handle(call) {
      const { id } = call.params;
      await readable({ store, callers, clock }, call);
      const { correctedBy, corrects } = await linksOf(store, id);
      /** What a link says, once its envelope is stored. */
      const shown = async (one: CorrectionLink | null, other: 'corrects' | 'correction') => {
        if (one === null || (await keptReceipt(store, one.id, clock())).kind === 'unknown') return null;
        const at = formatTimestamp(one.at);
        return { link_id: one.id, ...one.call[other], reason: one.call.reason, at };
      };
      return json({
        receipt_id: id,
        corrected_by: await shown(correctedBy, 'correction'),
        corrects: await shown(corrects, 'corrects'),
      });
    },
  });
}
