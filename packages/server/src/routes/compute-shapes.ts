import { z } from '@hono/zod-openapi';
import { CALLER_ERRORS, LIMIT_ERRORS, LIMIT_HEADERS } from '@tallystick/callers';
import { ENVELOPE_PROFILE, type ErrorCode } from '@tallystick/core';
import { CHARGE_HEADERS } from '@tallystick/inference';
import { LOW_BALANCE_HEADER } from '@tallystick/ledger';
import { answerSvc, embeddingsSvc } from './compute-svc-shapes.ts';
import { count } from './shapes.ts';

/** Group name under which the API reference lists these routes. */
export const COMPUTE = 'Inference';

const usageSchema = z.looseObject({
  prompt_tokens: count.openapi({ description: 'Tokens of the prompt.' }),
  total_tokens: count.openapi({ description: 'All tokens.' }),
});

const answerUsage = usageSchema
  .extend({ completion_tokens: count.openapi({ description: 'Tokens of the answer.' }) })
  .optional()
  .openapi({ description: 'What the provider counted; `svc.receipt.call` has what is billed.' });

/** The answer to a chat call, as OpenAI's API shapes it, with `svc`; spec/compute.md defines that. */
export const chatCompletionSchema = z
  .looseObject({
    id: z.string().openapi({ description: 'The provider’s id of the answer.' }),
    object: z.literal('chat.completion').openapi({ description: 'Always this.' }),
    created: z.int().openapi({ description: 'When it was answered, in unix seconds.' }),
    model: z
      .string()
      .openapi({ description: 'The id of the model that answered.', example: 'local/extract-1' }),
    choices: z
      .array(
        z.looseObject({
          index: count.openapi({ description: 'The number of the choice, from 0.' }),
          message: z
            .looseObject({
              role: z.literal('assistant').openapi({ description: 'Always this.' }),
              content: z
                .string()
                .nullable()
                .optional()
                .openapi({ description: 'The text; null where the answer is tool calls alone.' }),
            })
            .openapi({ description: 'The message, with `tool_calls` where the model calls tools.' }),
          finish_reason: z
            .string()
            .nullable()
            .openapi({ description: 'Why the model stopped.', example: 'stop' }),
        }),
      )
      .openapi({ description: 'One for each of `n`.' }),
    usage: answerUsage,
    svc: answerSvc,
  })
  .openapi('ChatCompletion', {
    description: 'OpenAI’s answer with one more member, `svc`: receipt, routing, compression and billing.',
  });

/** The answer to a chat call with `stream`. */
export const chatEvents = z.string().openapi({
  description:
    'Server-sent events: each `data:` is a chunk as OpenAI streams it, the last one before `[DONE]` has empty `choices` and `svc`.',
  example:
    'data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"local/extract-1","choices":[{"index":0,"delta":{"content":"A tally stick"},"finish_reason":null}]}\n\ndata: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"local/extract-1","choices":[],"svc":{}}\n\ndata: [DONE]\n\n',
});

/** The answer to a legacy completion call, as OpenAI's API shapes it, with `svc`. */
export const completionSchema = z
  .looseObject({
    id: z.string().openapi({ description: '`cmpl-` and the id of the receipt.' }),
    object: z.literal('text_completion').openapi({ description: 'Always this.' }),
    created: z.int().openapi({ description: 'When it was answered, in unix seconds.' }),
    model: z
      .string()
      .openapi({ description: 'The id of the model that answered.', example: 'local/extract-1' }),
    choices: z
      .array(
        z.looseObject({
          text: z.string().openapi({ description: 'The text.' }),
          index: count.openapi({ description: 'The number of the choice, from 0.' }),
          logprobs: z
            .looseObject({})
            .nullable()
            .openapi({ description: 'Log probabilities, if they were asked for.' }),
          finish_reason: z
            .string()
            .nullable()
            .openapi({ description: 'Why the model stopped.', example: 'stop' }),
        }),
      )
      .openapi({ description: 'One for each of `n`.' }),
    usage: answerUsage,
    svc: answerSvc,
  })
  .openapi('Completion', {
    description: 'OpenAI’s answer with one more member, `svc`: receipt, routing, compression and billing.',
  });

/** The answer to a legacy completion call with `stream`. */
export const completionEvents = z.string().openapi({
  description:
    'Server-sent events: each `data:` is a chunk as OpenAI streams it, the last one before `[DONE]` has empty `choices` and `svc`.',
  example:
    'data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"local/extract-1","choices":[{"text":"A tally stick","index":0,"logprobs":null,"finish_reason":null}]}\n\ndata: {"id":"cmpl-1","object":"text_completion","created":1,"model":"local/extract-1","choices":[],"svc":{}}\n\ndata: [DONE]\n\n',
});

/** The answer to a Messages call, as Anthropic's API shapes it, with `svc`. */
export const messageSchema = z
  .looseObject({
    id: z.string().openapi({ description: '`msg_` and the id of the receipt, or the provider’s own id.' }),
    type: z.literal('message').openapi({ description: 'Always this.' }),
    role: z.literal('assistant').openapi({ description: 'Always this.' }),
    model: z
      .string()
      .openapi({ description: 'The id of the model that answered.', example: 'local/extract-1' }),
    content: z
      .array(
        z.looseObject({ type: z.string().openapi({ description: 'The kind of block.', example: 'text' }) }),
      )
      .openapi({ description: 'Blocks: thinking, text, tool calls.' }),
    stop_reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why the model stopped.', example: 'end_turn' }),
    stop_sequence: z.string().nullable().openapi({ description: 'The stop text that the model met.' }),
    usage: z
      .looseObject({
        input_tokens: count.openapi({ description: 'Tokens of the prompt that no cache was used for.' }),
        cache_creation_input_tokens: count
          .nullish()
          .openapi({ description: 'Tokens of the prompt that were written to the provider’s cache.' }),
        cache_read_input_tokens: count
          .nullish()
          .openapi({ description: 'Tokens of the prompt that were read from the provider’s cache.' }),
        output_tokens: count.openapi({ description: 'Tokens of the answer.' }),
      })
      .openapi({ description: 'What the provider counted; `svc.receipt.call` has what is billed.' }),
    svc: answerSvc,
  })
  .openapi('Message', {
    description: 'Anthropic’s answer with one more member, `svc`: receipt, routing, compression and billing.',
  });

/** The answer to a Messages call with `stream`. */
export const messageEvents = z.string().openapi({
  description:
    'Server-sent events as Anthropic streams them. The last one, `message_stop` or `error`, has `svc`.',
  example:
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"A tally stick"}}\n\nevent: message_stop\ndata: {"type":"message_stop","svc":{}}\n\n',
});

/** The answer to a Responses call, as OpenAI's API shapes it, with `svc`. */
export const responseSchema = z
  .looseObject({
    id: z.string().openapi({ description: '`resp_` and the id of the receipt, or the provider’s own id.' }),
    object: z.literal('response').openapi({ description: 'Always this.' }),
    created_at: z.number().openapi({ description: 'When it was answered, in unix seconds.' }),
    status: z
      .enum(['completed', 'incomplete'])
      .openapi({ description: 'Whether the answer is whole; `incomplete_details` says why not.' }),
    incomplete_details: z
      .looseObject({ reason: z.string().openapi({ description: 'Why.', example: 'max_output_tokens' }) })
      .nullable()
      .openapi({ description: 'Null if the answer is whole.' }),
    model: z
      .string()
      .openapi({ description: 'The id of the model that answered.', example: 'local/extract-1' }),
    output: z
      .array(
        z.looseObject({
          type: z.string().openapi({
            description: '`message`, `function_call`, `reasoning`, or an item of a tool of the provider’s.',
          }),
        }),
      )
      .openapi({ description: 'What the model said, called and thought, in order.' }),
    store: z.literal(false).openapi({ description: 'Always this, whatever the call says.' }),
    usage: z
      .looseObject({
        input_tokens: count.openapi({ description: 'Tokens of the prompt.' }),
        output_tokens: count.openapi({ description: 'Tokens of the answer, reasoning included.' }),
        total_tokens: count.openapi({ description: 'All tokens.' }),
      })
      .nullable()
      .openapi({ description: 'What the provider counted; `svc.receipt.call` has what is billed.' }),
    svc: answerSvc,
  })
  .openapi('Response', {
    description: 'OpenAI’s answer with one more member, `svc`: receipt, routing, compression and billing.',
  });

/** The answer to a Responses call with `stream`. */
export const responseEvents = z.string().openapi({
  description:
    'Server-sent events as OpenAI streams them, each with `event:` and `sequence_number`. The last one (`response.completed`, `response.incomplete` or `response.failed`) has `svc`.',
  example:
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"A tally stick","logprobs":[]}\n\nevent: response.completed\ndata: {"type":"response.completed","sequence_number":8,"response":{},"svc":{}}\n\n',
});

/** The answer to an embeddings call, as OpenAI's API shapes it, with `svc`. */
export const embeddingsSchema = z
  .looseObject({
    object: z.literal('list').openapi({ description: 'Always this.' }),
    data: z
      .array(
        z.looseObject({
          object: z.literal('embedding').openapi({ description: 'Always this.' }),
          index: count.openapi({ description: 'The number of the input, from 0.' }),
          embedding: z
            .union([z.array(z.number()), z.string()])
            .openapi({ description: 'The vector; base64 of 32-bit floats for `encoding_format: base64`.' }),
        }),
      )
      .openapi({ description: 'One for each input, in their order.' }),
    model: z
      .string()
      .openapi({ description: 'The id of the model that answered.', example: 'local/embed-512' }),
    usage: usageSchema
      .optional()
      .openapi({ description: 'What the provider counted; `svc.receipt.call` has what is billed.' }),
    svc: embeddingsSvc,
  })
  .openapi('Embeddings', { description: 'As OpenAI answers, with the member `svc`: receipt and billing.' });

/** Request headers of every route that calls a model. */
export const CALL_HEADERS = {
  Authorization:
    'Optional in development: `Bearer` and an API key, whose account pays. With a Scale or Enterprise key every receipt is anchored.',
  'X-Agent-DID':
    'The DID of the calling agent. If a message signature (RFC 9421) proves it, the DID can pay.',
  'Idempotency-Key':
    'For 72 hours, repeating a call with the same key and body gives the first answer again and charges nothing. A stream is not kept: repeating it is refused.',
};

export const CALL_RESPONSE_HEADERS = {
  'X-Receipt-Id': 'The id of the call’s receipt.',
  'X-Settlement-Receipt-Id':
    'For an x402 payment by `upto`: the id of the receipt of the settlement, which follows the call.',
  'X-Receipt-Profile': `Always ${ENVELOPE_PROFILE}.`,
  'X-Receipt-Schema-Version': 'The version of the receipt schema.',
  'X-Anchor-Ref': 'Where the receipt is anchored, or is to be; absent where it is not, and of a stream.',
  ...LOW_BALANCE_HEADER,
  ...LIMIT_HEADERS,
};

/** The error codes of calling a model. */
export const CALL_ERRORS = [
  ...CALLER_ERRORS,
  'model_not_found',
  'context_too_long',
  'model_gone',
  'price_outdated',
  'no_model_available',
  'insufficient_balance',
  ...LIMIT_ERRORS,
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

/** Request headers of reads with a free daily limit. */
export const READ_HEADERS = {
  ...CHARGE_HEADERS,
  'X-Agent-DID': 'The DID whose free reads the request uses.',
  Authorization: 'Optional: `Bearer` and an API key, with which reads are not counted.',
};
