import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '@tallystick/core';
import {
  argumentsOf,
  defaultPieces,
  defaultUsage,
  type Script,
  textOf,
  type UpstreamRequest,
  type Wire,
} from './upstream-script.ts';

/** What only the upstream can read of a model's reasoning. */
export const SEALED = 'gAAAAABsealed';

/** OpenAI's Responses. */
export const responsesWire: Wire = {
  contentType: 'text/event-stream; charset=utf-8',
  complete: (script, request) => ended(script, request),
  events(script, request) {
    const begun = { ...headOf(request), status: 'in_progress', output: [], usage: null };
    const last = ended(script, request);
    const items = outputOf(script).flatMap((item, index) => eventsOf(item, index, script));
    const events: (JsonObject & { type: string })[] = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...items,
      { type: script.finish === 'length' ? 'response.incomplete' : 'response.completed', response: last },
    ];
    return events.map((event, number) => sse({ ...event, sequence_number: number }));
  },
  error: ({ status, message, param = null, code = null }) => ({
    error: {
      message,
      type: status < 500 ? 'invalid_request_error' : 'server_error',
      param,
      code,
    },
  }),
  errorEvent: (message = 'The server had an error') =>
    sse({
      type: 'error',
      sequence_number: 9,
      error: { type: 'server_error', code: 'server_error', message, param: null },
    }),
  garbage: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta",\n\n',
};

/** Like OpenAI's, its JSON has members in an order, and numbers in a form, that no canonical form has. */
function sse(data: JsonObject & { type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data).replace(/}$/, ', "obfuscation": "x"}')}\n\n`;
}

function headOf({ body }: UpstreamRequest): JsonObject {
  return {
    id: 'resp_upstream',
    object: 'response',
    created_at: 1_760_000_000,
    model: body['model'] ?? '',
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    metadata: {},
    parallel_tool_calls: true,
    store: body['store'] ?? true,
    temperature: 1,
    text: body['text'] ?? { format: { type: 'text' } },
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: body['tools'] ?? [],
    top_p: 1,
  };
}

function ended(script: Script, request: UpstreamRequest): JsonObject {
  const cut = script.finish === 'length';
  return {
    ...headOf(request),
    ...script.members,
    status: cut ? 'incomplete' : 'completed',
    ...(cut && { incomplete_details: { reason: 'max_output_tokens' } }),
    output: outputOf(script),
    usage: usageOf(script),
  };
}

function outputOf(script: Script): JsonObject[] {
  const { thinking, toolCalls = [], pieces, finish } = script;
  const status = finish === 'length' ? 'incomplete' : 'completed';
  const message = {
    id: idOf('msg', script),
    type: 'message',
    status,
    role: 'assistant',
    content: [textPart(textOf(script))],
  };
  const calls = toolCalls.map((call) => ({
    id: `fc_${call.id}`,
    type: 'function_call',
    status,
    call_id: call.id,
    name: call.name,
    arguments: argumentsOf(call),
  }));
  const said = calls.length === 0 || pieces !== undefined ? [message, ...calls] : calls;
  return thinking === undefined ? said : [reasoningOf(thinking, script), ...said];
}

/** As long as OpenAI's, and another one for another answer. */
function idOf(prefix: 'msg' | 'rs', script: Script): string {
  return `${prefix}_${hash('sha256', JSON.stringify(script)).slice(0, 48)}`;
}

function reasoningOf(thinking: string, script: Script): JsonObject {
  const summary = [{ type: 'summary_text', text: thinking }];
  return { id: idOf('rs', script), type: 'reasoning', summary, encrypted_content: SEALED };
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function eventsOf(
  item: JsonObject,
  output_index: number,
  { pieces = defaultPieces, toolCalls, thinking = '' }: Script,
): (JsonObject & { type: string })[] {
  const item_id = item['id'] ?? '';
  const at = { item_id, output_index };
  const around = (
    open: JsonObject,
    within: (JsonObject & { type: string })[],
  ): (JsonObject & { type: string })[] => [
    { type: 'response.output_item.added', output_index, item: { ...item, ...open } },
    ...within,
    { type: 'response.output_item.done', output_index, item },
  ];
  if (item['type'] === 'reasoning') {
    const of = { ...at, summary_index: 0 };
    return around({ summary: [] }, [
      { type: 'response.reasoning_summary_part.added', ...of, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...of, delta: thinking },
      { type: 'response.reasoning_summary_text.done', ...of, text: thinking },
      { type: 'response.reasoning_summary_part.done', ...of, part: { type: 'summary_text', text: thinking } },
    ]);
  }
  if (item['type'] === 'function_call') {
    const call = toolCalls?.find(({ id }) => id === item['call_id']);
    return around({ status: 'in_progress', arguments: '' }, [
      ...(call?.pieces ?? []).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        ...at,
        delta,
      })),
      { type: 'response.function_call_arguments.done', ...at, arguments: item['arguments'] ?? '' },
    ]);
  }
  const of = { ...at, content_index: 0 };
  const text = pieces.join('');
  return around({ status: 'in_progress', content: [] }, [
    { type: 'response.content_part.added', ...of, part: textPart('') },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...of, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...of, text, logprobs: [] },
    { type: 'response.content_part.done', ...of, part: textPart(text) },
  ]);
}

function usageOf({ usage = defaultUsage, wrongUsage, thinking }: Script): JsonValue {
  if (wrongUsage) return wrongUsage;
  const { prompt, completion, cached = 0 } = usage;
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: thinking === undefined ? 0 : 2 },
    total_tokens: prompt + completion,
  };
}
