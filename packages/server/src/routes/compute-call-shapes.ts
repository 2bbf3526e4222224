import { z } from '@hono/zod-openapi';
import { apiKeyIdText, count, digestText, receiptIdText, timestamp } from './shapes.ts';

const money = z.string().openapi({ pattern: String.raw`^-?\d+(\.\d{1,9})?$`, example: '0.00042' });

const callMembers = {
  id: z.string().openapi({
    description: 'The id of the receipt; `call_…` for a call without one.',
    example: 'r_env_1803902400_0123456789ab',
  }),
  at: timestamp.openapi({ description: 'When the call ended.' }),
  receipt_id: receiptIdText
    .nullable()
    .openapi({ description: 'The id of the receipt; null for a call that was not billed.' }),
  model: z.string().nullable().openapi({
    description: 'The model that answered, or that a failed call was sent to; null if none was chosen.',
  }),
  requested_model: z.string().openapi({ description: 'The model that was asked for.', example: 'auto' }),
  provider: z.string().nullable().openapi({ description: 'The provider of the model.' }),
  route_reason: z.string().nullable().openapi({
    description: 'Why the model was chosen: `outcome.why` of the routing.',
    example: 'best_score',
  }),
  stream: z.boolean().openapi({ description: 'Whether the answer was streamed.' }),
  prompt_tokens: count.nullable().openapi({ description: 'Tokens of the prompt, as billed.' }),
  completion_tokens: count.nullable().openapi({ description: 'Tokens of the answer, as billed.' }),
  cached_tokens: count
    .nullable()
    .openapi({ description: 'Of the prompt, those read from the provider’s cache.' }),
  cost_usdc: money.openapi({ description: 'What the call was charged, in USDC.' }),
  saving_usdc: money.openapi({ description: 'What compression saved, in USDC.' }),
  first_byte_ms: count.nullable().openapi({
    description: 'Milliseconds to the first byte of the answer; null where it is not known.',
  }),
  total_ms: count.nullable().openapi({
    description: 'Milliseconds to the end of the call; null where it is not known, as after a crash.',
  }),
  status: z.int().openapi({ description: 'The HTTP status of the answer.' }),
  error_code: z.string().nullable().openapi({
    description: 'The code of the error that was answered, or that ended a stream early.',
  }),
  did: z.string().nullable().openapi({ description: 'The DID that the call was made under.' }),
  key: apiKeyIdText.nullable(),
  session: z.string().nullable().openapi({ description: 'The `svc.session` of the call.' }),
  tags: z.record(z.string(), z.string()).openapi({ description: 'The `svc.tags` of the call.' }),
  request_hash: digestText.nullable().openapi({
    description: 'The hash of the request, as the receipt has it; null for a call without a receipt.',
  }),
  purpose: z.string().openapi({ description: 'The purpose in the receipt.' }),
  profile: z.string().nullable().openapi({ description: 'The profile of the receipt.' }),
  content_kept: z.boolean().openapi({
    description: 'Whether prompt and answer are kept: `GET /v1/compute/calls/{id}/content`.',
  }),
};

/** A row of the list of calls. */
export const callSchema = z
  .object(callMembers)
  .openapi('CallRow', { description: 'A call of a model, as its caller’s list shows it.' });

const span = {
  at_ms: z
    .number()
    .openapi({ description: 'Milliseconds from the call’s acceptance to the beginning of this.' }),
  ms: z.number().openapi({ description: 'How many milliseconds it took.' }),
};

/** A row with what is known of the call alone. */
export const callDetailSchema = z
  .object({
    ...callMembers,
    timeline: z
      .array(
        z.object({
          step: z.enum(['compress', 'route', 'reserve', 'tries', 'first_byte', 'settle']).openapi({
            description: 'The step; `route` includes `compress`, `tries` every call of a provider.',
          }),
          ...span,
        }),
      )
      .openapi({
        description: 'The steps of the call, in the order of their beginnings; empty where it is not known.',
      }),
    tries: z
      .array(
        z.object({
          model: z.string().openapi({ description: 'The model that was tried.' }),
          kind: z.string().openapi({ description: 'What went wrong.' }),
          status: z.int().nullable().openapi({ description: 'The provider’s HTTP status, if it gave one.' }),
          ...span,
        }),
      )
      .openapi({ description: 'Tries that failed.' }),
    answered: z
      .object({
        model: z.string().openapi({ description: 'The model that answered.' }),
        provider: z.string().openapi({ description: 'Its provider.' }),
        ...span,
      })
      .nullable()
      .openapi({
        description:
          'The try that the answer came from, until the answer began, or was there in one piece; null where there was none, or it is not known.',
      }),
    routing: z.looseObject({}).nullable().openapi({
      description: 'Why the model was chosen: what `tally route explain` reads.',
    }),
    billing: z
      .looseObject({})
      .nullable()
      .openapi({ description: 'The bill, as `svc.billing` of an answer has it with `svc.explain`.' }),
    compression: z.looseObject({}).nullable().openapi({
      description: 'What became of the prompt, as `svc.compression` of an answer has it with `svc.explain`.',
    }),
  })
  .openapi('CallDetail', { description: 'A call of a model with everything that is known of it.' });

/** Sums of the calls of one bucket and group. */
export const countSchema = z
  .object({
    at: timestamp.openapi({ description: 'When the bucket begins.' }),
    by: z.string().nullable().openapi({
      description: 'The model, provider, status or key; null with `by=none`, or where a call has none.',
    }),
    calls: count.openapi({ description: 'Number of calls.' }),
    errors: count.openapi({ description: 'Of them, those that ended with an error.' }),
    cost_usdc: money.openapi({ description: 'What they were charged, in USDC.' }),
    saving_usdc: money.openapi({ description: 'What compression saved, in USDC.' }),
    prompt_tokens: count.openapi({ description: 'Tokens of the prompts.' }),
    completion_tokens: count.openapi({ description: 'Tokens of the answers.' }),
    p50_ms: count.nullable().openapi({ description: 'Median of `total_ms`; null where none is known.' }),
    p95_ms: count.nullable().openapi({ description: 'The `total_ms` that 95 % of the calls stay below.' }),
  })
  .openapi('CallCount', { description: 'Sums of calls in a bucket of time.' });
