import type { JsonObject, JsonValue } from '@tallystick/core';
import {
  argumentsOf,
  defaultPieces,
  defaultUsage,
  type Script,
  type ScriptedToolCall,
  textOf,
  type UpstreamRequest,
  type Wire,
} from './upstream-script.ts';
import type { TokenEndpoint } from './upstream-tokens.ts';

const sse = (data: JsonValue): string => `data: ${JSON.stringify(data)}\n\n`;
const namedSse = (data: JsonObject & { type: string }): string => `event: ${data.type}\n${sse(data)}`;
const line = (data: JsonObject): string => `${JSON.stringify(data)}\n`;

const finishOf = ({ finish, toolCalls }: Script): string => finish ?? (toolCalls ? 'tool_calls' : 'stop');

/** OpenAI's chat completions. */
export const openaiWire: Wire = {
  contentType: 'text/event-stream; charset=utf-8',
  complete(script, { body }) {
    const message: JsonObject = { role: 'assistant', content: script.toolCalls ? null : textOf(script) };
    if (script.toolCalls)
      message['tool_calls'] = script.toolCalls.map((call) => openaiCall(call, argumentsOf(call)));
    // As DeepSeek, vLLM and others; OpenAI itself does not show it here.
    if (script.thinking !== undefined) message['reasoning_content'] = script.thinking;
    const choice = { index: 0, message, logprobs: null, finish_reason: finishOf(script) };
    return {
      ...openaiHead('chat.completion', body),
      ...script.members,
      choices: Array.from({ length: Number(body['n'] ?? 1) }, (_, index) => ({ ...choice, index })),
      usage: openaiUsage(script),
      ...script.answer,
    };
  },
  events(script, { body }) {
    const head = { ...openaiHead('chat.completion.chunk', body), ...script.members };
    if (script.chunks)
      return [...script.chunks.map((chunk) => sse({ ...head, ...chunk })), 'data: [DONE]\n\n'];
    const asked = (body['stream_options'] as JsonObject | undefined)?.['include_usage'] === true;
    const chunk = (delta: JsonObject, finish: string | null = null): string =>
      sse({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...(asked && { usage: null }) });
    const deltas = script.toolCalls
      ? script.toolCalls.flatMap((call, index) => [
          chunk({ tool_calls: [{ index, ...openaiCall(call, '') }] }),
          ...call.pieces.map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
        ])
      : (script.pieces ?? defaultPieces).map((content) => chunk({ content }));
    return [
      chunk({ role: 'assistant', content: '' }),
      ...deltas,
      chunk({}, finishOf(script)),
      ...(asked ? [sse({ ...head, choices: [], usage: openaiUsage(script) })] : []),
      ...(script.emptyUsage ? [sse({ ...head, choices: [], usage: {} })] : []),
      'data: [DONE]\n\n',
    ];
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
    sse({ error: { message, type: 'server_error', code: null } }),
  garbage: 'data: {"id":"x","choices":[{]\n\n',
};

function openaiHead(object: string, body: JsonObject): JsonObject {
  return { id: 'chatcmpl-upstream', object, created: 1_760_000_000, model: body['model'] ?? '' };
}

function openaiCall({ id, name, object }: ScriptedToolCall, text: string): JsonObject {
  return { id, type: 'function', function: { name, arguments: object ?? text } };
}

function openaiUsage({ usage = defaultUsage, wrongUsage }: Script): JsonObject {
  if (wrongUsage) return wrongUsage;
  const { prompt, completion, cached = 0 } = usage;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** A format of OpenAI at Azure, which takes a key in a header of its own, or a token. */
export const azureWire = (wire: Wire, tokens: TokenEndpoint): Wire => ({
  ...wire,
  unauthorized: ({ headers }) =>
    headers['api-key'] === undefined && !tokens.accepts(headers.authorization) ? 'Access denied' : null,
});

/** Anthropic's Messages API. */
export const anthropicWire: Wire = {
  contentType: 'text/event-stream; charset=utf-8',
  complete(script, { body }) {
    const content: JsonObject[] = [
      ...(hasText(script) ? [{ type: 'text', text: textOf(script) }] : []),
      ...(script.toolCalls ?? []).map((call) => ({ ...toolUse(call), input: parsed(call) })),
    ];
    if (script.thinking !== undefined)
      content.unshift({ type: 'thinking', thinking: script.thinking, signature: 'c2ln' });
    return {
      ...messageHead(body),
      content,
      stop_reason: stopReason(script),
      stop_sequence: null,
      usage: messageUsage(script),
    };
  },
  events(script, { body }) {
    const usage = messageUsage(script);
    const message = {
      ...messageHead(body),
      content: [],
      stop_reason: null,
      usage: { ...usage, output_tokens: 1 },
    };
    const text = {
      content: { type: 'text', text: '' },
      deltas: (script.pieces ?? defaultPieces).map((text) => ({ type: 'text_delta', text })),
    };
    const calls = (script.toolCalls ?? []).map((call) => ({
      content: { ...toolUse(call), input: call.object ?? {} },
      deltas: ['', ...call.pieces].map((text) => ({ type: 'input_json_delta', partial_json: text })),
    }));
    const said: { content: JsonObject; deltas: JsonObject[] }[] = hasText(script) ? [text, ...calls] : calls;
    const { thinking } = script;
    const thought = {
      content: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: thinking ?? '' },
        { type: 'signature_delta', signature: 'c2ln' },
      ],
    };
    const blocks = thinking === undefined ? said : [thought, ...said];
    return [
      namedSse({ type: 'message_start', message }),
      namedSse({ type: 'ping' }),
      ...blocks.flatMap(({ content, deltas }, index) => [
        namedSse({ type: 'content_block_start', index, content_block: content }),
        ...deltas.map((delta) => namedSse({ type: 'content_block_delta', index, delta })),
        namedSse({ type: 'content_block_stop', index }),
      ]),
      namedSse({
        type: 'message_delta',
        delta: { stop_reason: stopReason(script), stop_sequence: null },
        usage: { output_tokens: usage['output_tokens'] ?? 0 },
      }),
      namedSse({ type: 'message_stop' }),
    ];
  },
  error: ({ status, message }) => ({ type: 'error', error: { type: anthropicErrorType(status), message } }),
  errorEvent: (message = 'Overloaded', type = 'overloaded_error') =>
    namedSse({ type: 'error', error: { type, message } }),
  garbage: 'event: content_block_delta\ndata: {"type":\n\n',
};

/** Whether a text comes before the calls of tools, or in their place. */
const hasText = ({ toolCalls, pieces }: Script): boolean => toolCalls === undefined || pieces !== undefined;

function anthropicErrorType(status: number): string {
  const types: Record<number, string> = {
    404: 'not_found_error',
    429: 'rate_limit_error',
    529: 'overloaded_error',
  };
  return types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

function messageHead(body: JsonObject): JsonObject {
  return { id: 'msg_upstream', type: 'message', role: 'assistant', model: body['model'] ?? '' };
}

function toolUse({ id, name }: ScriptedToolCall): JsonObject {
  return { type: 'tool_use', id, name };
}

export function parsed(call: ScriptedToolCall): JsonValue {
  return JSON.parse(argumentsOf(call) || '{}') as JsonValue;
}

function stopReason({ finish, toolCalls }: Script): string {
  if (finish === 'length') return 'max_tokens';
  return toolCalls ? 'tool_use' : 'end_turn';
}

function messageUsage({ usage = defaultUsage, wrongUsage }: Script): JsonObject {
  if (wrongUsage) return wrongUsage;
  const { prompt, completion, cached = 0, written = 0 }: NonNullable<Script['usage']> = usage;
  return {
    input_tokens: prompt - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: completion,
  };
}

/** Ollama's own chat API, in lines of JSON. */
export const ollamaWire: Wire = {
  contentType: 'application/x-ndjson',
  complete(script, request) {
    const message: JsonObject = { role: 'assistant', content: script.toolCalls ? '' : textOf(script) };
    if (script.toolCalls) message['tool_calls'] = script.toolCalls.map(ollamaCall);
    return { ...ollamaHead(request), message, ...ollamaEnd(script) };
  },
  events(script, request) {
    const head = ollamaHead(request);
    const messages: JsonObject[] = script.toolCalls
      ? script.toolCalls.map((call) => ({ role: 'assistant', content: '', tool_calls: [ollamaCall(call)] }))
      : (script.pieces ?? defaultPieces).map((content) => ({ role: 'assistant', content }));
    return [
      ...messages.map((message) => line({ ...head, message, done: false })),
      line({ ...head, message: { role: 'assistant', content: '' }, ...ollamaEnd(script) }),
    ];
  },
  error: ({ message }) => ({ error: message }),
  errorEvent: (message = 'an error was encountered while running the model') => line({ error: message }),
  garbage: '{"model":"m","message":{\n',
};

function ollamaHead({ body }: UpstreamRequest): JsonObject {
  return { model: body['model'] ?? '', created_at: '2026-01-01T00:00:00.000000000Z' };
}

function ollamaCall(call: ScriptedToolCall): JsonObject {
  return { function: { name: call.name, arguments: parsed(call) } };
}

function ollamaEnd({ finish = 'stop', usage = defaultUsage, wrongUsage }: Script): JsonObject {
  const counts = wrongUsage ?? { prompt_eval_count: usage.prompt, eval_count: usage.completion };
  return { done: true, done_reason: finish, ...counts };
}

/** The Gemini API's `generateContent` and `streamGenerateContent?alt=sse`. */
export const geminiWire: Wire = {
  contentType: 'text/event-stream',
  isStream: ({ path }) => path.endsWith(':streamGenerateContent?alt=sse'),
  unauthorized: ({ headers, path }) =>
    headers['x-goog-api-key'] === undefined || path.includes('key=') ? 'API key not valid.' : null,
  complete: (script, request) => ({
    ...geminiHead(request),
    candidates: [geminiCandidate(geminiParts(script, [textOf(script)]), geminiFinish(script))],
    ...geminiUsage(script),
  }),
  events: (script, request) => [
    ...geminiParts(script, script.pieces ?? defaultPieces).map((part) =>
      sse({ ...geminiHead(request), candidates: [geminiCandidate([part])] }),
    ),
    sse({
      ...geminiHead(request),
      candidates: [geminiCandidate([{ text: '' }], geminiFinish(script))],
      ...geminiUsage(script),
    }),
  ],
  error: ({ status, message, retryDelay }) => ({
    error: {
      code: status,
      message,
      status: geminiStatus(status),
      ...(retryDelay !== undefined && {
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
      }),
    },
  }),
  errorEvent: (message = 'An internal error has occurred') =>
    sse({ error: { code: 500, message, status: 'INTERNAL' } }),
  garbage: 'data: {"candidates":[{]\n\n',
};

/** Gemini's format at Vertex AI, which takes tokens. */
export const vertexWire = (tokens: TokenEndpoint): Wire => ({
  ...geminiWire,
  unauthorized: ({ headers }) => (tokens.accepts(headers.authorization) ? null : 'Invalid credentials.'),
});

function geminiStatus(status: number): string {
  const names: Record<number, string> = {
    400: 'INVALID_ARGUMENT',
    429: 'RESOURCE_EXHAUSTED',
    503: 'UNAVAILABLE',
  };
  return names[status] ?? 'UNKNOWN';
}

function geminiHead({ path }: UpstreamRequest): JsonObject {
  return { responseId: 'resp-upstream', modelVersion: /models\/([^:/]+):/.exec(path)?.[1] ?? '' };
}

function geminiCandidate(parts: JsonObject[], finishReason?: string): JsonObject {
  return { index: 0, content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) };
}

function geminiParts({ toolCalls, thinking }: Script, texts: readonly string[]): JsonObject[] {
  const said: JsonObject[] = toolCalls
    ? toolCalls.map((call) => ({
        functionCall: { id: call.id, name: call.name, args: parsed(call) },
        thoughtSignature: `signature of ${call.id}`,
      }))
    : texts.map((text) => ({ text }));
  return thinking === undefined ? said : [{ text: thinking, thought: true }, ...said];
}

function geminiFinish({ finish = 'stop' }: Script): string {
  return finish === 'length' ? 'MAX_TOKENS' : 'STOP';
}

function geminiUsage({ usage = defaultUsage, wrongUsage, thinking }: Script): JsonObject {
  const { prompt, completion, cached = 0 } = usage;
  const thoughtsTokenCount = thinking === undefined ? {} : { thoughtsTokenCount: 3 };
  const counts = {
    promptTokenCount: prompt,
    candidatesTokenCount: completion,
    cachedContentTokenCount: cached,
  };
  return { usageMetadata: wrongUsage ?? { ...counts, ...thoughtsTokenCount } };
}
