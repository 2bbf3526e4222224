import type { z } from '@hono/zod-openapi';
import type { ErrorCode, JsonObject } from '@tallystick/core';
import {
  type CallMembers,
  chat,
  chatRequestSchema,
  completionRequestSchema,
  completions,
  messages,
  messagesRequestSchema,
  type Protocol,
  responses,
  responsesRequestSchema,
} from '@tallystick/inference';
import { ANTHROPIC, type Dialect, OPENAI } from '../http/dialect.ts';
import {
  chatCompletionSchema,
  chatEvents,
  completionEvents,
  completionSchema,
  messageEvents,
  messageSchema,
  responseEvents,
  responseSchema,
} from './compute-shapes.ts';

/** A path at which a model is called in a protocol. To add one, copy a neighbour in `PROTOCOL_ROUTES`. */
export interface ProtocolRoute {
  readonly protocol: Protocol;
  readonly path: string;
  /** As of `EndpointDefinition`. */
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly dialect: Dialect;
  readonly body: z.ZodType<CallMembers>;
  readonly example: JsonObject;
  /** An answer in one piece. */
  readonly answer: z.ZodType;
  /** A streamed answer. */
  readonly events: z.ZodType;
  /** Error codes besides those of every call. */
  readonly errors?: readonly ErrorCode[];
  /** Header in which the protocol's own clients look for the id of an answer; it gets the id of the receipt. */
  readonly answerIdHeader?: 'request-id';
}

const MESSAGES = {
  protocol: messages,
  dialect: ANTHROPIC,
  body: messagesRequestSchema,
  example: {
    model: 'auto',
    max_tokens: 200,
    messages: [{ role: 'user', content: 'What is a tally stick?' }],
  },
  answer: messageSchema,
  events: messageEvents,
  errors: ['state_not_kept'],
  answerIdHeader: 'request-id',
} satisfies Partial<ProtocolRoute>;

export const PROTOCOL_ROUTES: readonly ProtocolRoute[] = [
  {
    protocol: chat,
    path: '/v1/compute/chat/completions',
    operationId: 'createChatCompletion',
    summary: 'Chat with a model',
    description:
      'An OpenAI chat completion, routed to a model, metered and recorded in a receipt: point an OpenAI client at `/v1/compute`. With `stream` the answer is a stream of server-sent events; the last chunk before `[DONE]` contains `svc`.',
    dialect: OPENAI,
    body: chatRequestSchema,
    example: { model: 'auto', messages: [{ role: 'user', content: 'What is a tally stick?' }] },
    answer: chatCompletionSchema,
    events: chatEvents,
  },
  {
    protocol: completions,
    path: '/v1/compute/completions',
    operationId: 'createCompletion',
    summary: 'Complete a text',
    description:
      'An OpenAI legacy completion. The prompt is sent to a chat model as one user message, so any model can serve it; otherwise it is routed, metered and recorded as a chat call is.',
    dialect: OPENAI,
    body: completionRequestSchema,
    example: { model: 'auto', prompt: 'What is a tally stick?', max_tokens: 200 },
    answer: completionSchema,
    events: completionEvents,
  },
  {
    ...MESSAGES,
    path: '/v1/compute/messages',
    operationId: 'createMessage',
    summary: 'Answer a message',
    description:
      'Anthropic’s Messages API, routed to a model of any provider, metered and recorded in a receipt. With `stream` the answer is a stream of server-sent events; `message_stop` contains `svc`.',
  },
  {
    ...MESSAGES,
    path: '/v1/compute/v1/messages',
    operationId: 'createMessageV1',
    summary: 'Answer a message, at the path of Anthropic’s clients',
    description:
      'The same as `/v1/compute/messages`. Anthropic’s clients add `/v1` themselves: their base URL is `…/v1/compute`, as that of OpenAI’s.',
  },
  {
    protocol: responses,
    path: '/v1/compute/responses',
    operationId: 'createResponse',
    summary: 'Answer by a model',
    description:
      'OpenAI’s Responses, stateless: `store: true`, `previous_response_id`, `conversation`, `background` and references to items that are not kept are refused with `state_not_kept`. With `stream` the answer comes as OpenAI’s events; the last one contains `svc`. Tools and members that only OpenAI’s own API knows go to models of a provider with the same API.',
    dialect: OPENAI,
    body: responsesRequestSchema,
    example: { model: 'auto', input: 'What is a tally stick?' },
    answer: responseSchema,
    events: responseEvents,
    errors: ['state_not_kept'],
  },
];
