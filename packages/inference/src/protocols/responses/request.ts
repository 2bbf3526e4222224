import type { JsonObject, JsonValue } from '@tallystick/core';
import { asObject, objectsOf, present } from '../../providers/members.ts';
import type { ChatBody } from '../../types.ts';
import { stateless, type TextPlace } from '../protocol.ts';
import { type Conversation, conversationOf } from './conversation.ts';
import { isPackedHere } from './reasoning.ts';
import { refuseReferences } from './refusals.ts';
import { type Tools, toolsOf } from './tools.ts';

/** Converts an OpenAI Responses request to the inner form. @throws state_not_kept, invalid_request */
export function innerOf(body: JsonObject): ChatBody {
  refuseState(body);
  const { messages } = conversationOf(body);
  const { tools, choice } = toolsOf(body);
  const logprobs = wantsLogprobs(body);
  return present({
    model: body['model'],
    messages: [...messages],
    stream: body['stream'] === true ? true : undefined,
    max_completion_tokens: body['max_output_tokens'] ?? undefined,
    temperature: body['temperature'] ?? undefined,
    top_p: body['top_p'] ?? undefined,
    ...(tools.length > 0 && {
      tools: [...tools],
      tool_choice: choice,
      parallel_tool_calls: body['parallel_tool_calls'] ?? undefined,
    }),
    response_format: formatOf(asObject(body['text'])?.['format']),
    verbosity: asObject(body['text'])?.['verbosity'] ?? undefined,
    reasoning_effort: asObject(body['reasoning'])?.['effort'] ?? undefined,
    logprobs: logprobs ? true : undefined,
    top_logprobs: logprobs ? (body['top_logprobs'] ?? undefined) : undefined,
    user: body['user'] ?? body['safety_identifier'] ?? undefined,
    // Only for what the prompt may count.
    context_management: body['truncation'] === 'auto' ? 'auto' : (body['context_management'] ?? undefined),
  });
}

/** Where the texts that compression may change stand in the body. */
export function textPlaces(body: JsonObject): readonly TextPlace[] {
  return conversationOf(body).places;
}

/** The members of the body that only a provider with the same API can take. */
export function nativeOnly(body: JsonObject): readonly string[] {
  const own = Object.entries(body).flatMap(([member, value]) =>
    value === null || value === false || value === undefined || TRANSLATED.has(member) ? [] : [member],
  );
  const reasoning = Object.entries(asObject(body['reasoning']) ?? {}).flatMap(([member, value]) =>
    value === null || REASONING.has(member) ? [] : [`reasoning.${member}`],
  );
  const read: readonly (Conversation | Tools)[] = [conversationOf(body), toolsOf(body)];
  return [...own, ...reasoning, ...read.flatMap((one) => one.nativeOnly)];
}

/** Whether a provider with the same API could read the body: it cannot open reasoning that was packed here. */
export function fitsNative(body: JsonObject): boolean {
  return !objectsOf(body['input']).some(isPackedHere);
}

/**
 * Members that a translation carries, or whose loss does not change the answer: those say how a provider shares its
 * cache, its queues and its records. `truncation` is always `disabled` here, as the answer says.
 */
const TRANSLATED: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'stream_options',
  'max_output_tokens',
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'include',
  'truncation',
  'store',
  'user',
  'safety_identifier',
  'metadata',
  'client_metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
]);

const REASONING: ReadonlySet<string> = new Set(['effort', 'summary', 'generate_summary']);

function refuseState(body: JsonObject): void {
  const whole = 'Nothing is kept between calls. Send the whole conversation in `input`.';
  if (body['store'] === true)
    throw stateless('store', 'Answers are not kept. Leave `store` out, or set it to false.');
  if (body['background'] === true)
    throw stateless('background', 'Answers are not kept, so none can be fetched later.');
  for (const member of ['previous_response_id', 'conversation'])
    if (body[member] !== undefined && body[member] !== null) throw stateless(member, whole);
  if (body['prompt'] !== undefined && body['prompt'] !== null)
    throw stateless('prompt', 'Prompts are not kept. Send the text itself.');
  refuseReferences(body);
}

function wantsLogprobs(body: JsonObject): boolean {
  const asked = Array.isArray(body['include']) && body['include'].includes('message.output_text.logprobs');
  return asked || (typeof body['top_logprobs'] === 'number' && body['top_logprobs'] > 0);
}

function formatOf(value: JsonValue | undefined): JsonObject | undefined {
  const { type, ...schema } = asObject(value) ?? {};
  if (type === 'json_object') return { type };
  return type === 'json_schema' ? { type, json_schema: schema } : undefined;
}
