import { z } from '@hono/zod-openapi';
import { ENVELOPE_PROFILE, type ErrorCode } from '@tallystick/core';
import { CALLER_ERRORS } from '../compute/caller.ts';
import { TIERS } from '../compute/compression/options.ts';
import { CHARGE_HEADERS } from '../compute/free-reads.ts';
import { LOW_BALANCE_HEADER } from '../compute/ledger/low-balance.ts';

/** Under which the reference lists the routes. */
export const COMPUTE = 'Inference';

export const moneySchema = z
  .object({
    usdc: z.string().openapi({ example: '0.000012300', description: 'Decimal text with nine places.' }),
    nano: z.string().openapi({ example: '12300', description: 'The same in nano-USDC.' }),
  })
  .openapi('Money');

/** What became of the prompt; spec/compute.md defines it. */
export const compressionSchema = z
  .object({
    tier: z.enum(TIERS),
    tokenizer: z.string().openapi({ description: 'Which encoding counted, or `provider`.' }),
    estimate: z.boolean().openapi({ description: 'Whether the model’s own tokenizer may count otherwise.' }),
    tokens_before: z.int().nullable(),
    tokens_after: z.int().nullable(),
    methods: z.record(z.string(), z.int()).openapi({ description: 'Tokens that each method saved.' }),
    lost_cache_tokens: z.int().openapi({
      description: 'Tokens that the provider might have read from its cache and did not.',
    }),
    removed: z
      .array(z.object({ id: z.string(), removed: z.int(), of: z.int(), unit: z.string(), tokens: z.int() }))
      .openapi({ description: 'What was cut, block by block; the notice in the text holds the id.' }),
    note: z.string().optional(),
  })
  .openapi('Compression');

/** What comes with an answer of a model; spec/compute.md defines it. */
export const completionSchema = z
  .looseObject({
    svc: z.looseObject({
      receipt: z.looseObject({}),
      billing: z.looseObject({}),
      compression: compressionSchema.nullable(),
    }),
  })
  .openapi('ChatCompletion', {
    description: 'As OpenAI answers, with the member `svc`: receipt, routing, compression, billing.',
  });

/** Request headers of every route that calls a model. */
export const CALL_HEADERS = {
  Authorization:
    'Optional in development: `Bearer` and an API key, whose account pays. With a Scale or Enterprise key every receipt is anchored.',
  'X-Agent-DID': 'The DID of the calling agent. What it proves by a message signature (RFC 9421) can pay.',
  'Idempotency-Key':
    'Repeating a call with the same key and body gives the first answer again, and charges nothing, for 72 hours. A stream is not kept: its repetition is refused.',
};

export const CALL_RESPONSE_HEADERS = {
  'X-Receipt-Id': 'The id of the call’s receipt.',
  'X-Settlement-Receipt-Id':
    'Of an x402 payment by `upto`: the id of the receipt of its settlement, which follows the call.',
  'X-Receipt-Profile': `Always ${ENVELOPE_PROFILE}.`,
  'X-Receipt-Schema-Version': 'The version of the receipt’s schema.',
  'X-Anchor-Ref': 'Where the receipt is anchored, or is to be; absent where it is not, and of a stream.',
  ...LOW_BALANCE_HEADER,
};

/** What calling a model can refuse. */
export const CALL_ERRORS = [
  ...CALLER_ERRORS,
  'model_not_found',
  'context_too_long',
  'model_gone',
  'no_model_available',
  'insufficient_balance',
  'provider_refused',
  'provider_rate_limited',
  'provider_failed',
  'provider_timeout',
  'client_closed',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_key_in_use',
  'already_answered',
  'invalid_did',
  'unavailable',
] as const satisfies readonly ErrorCode[];

/** Request headers of the reads that are free so many times a day. */
export const READ_HEADERS = {
  ...CHARGE_HEADERS,
  'X-Agent-DID': 'The DID that the read counts for.',
  Authorization: 'Optional: `Bearer` and an API key, with which reads are not counted.',
};
