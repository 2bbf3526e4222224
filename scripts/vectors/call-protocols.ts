import type { CallProtocol, JsonObject } from '../../packages/core/src/index.ts';

/** An event of a stream; `event` is its name, null where the protocol gives none. */
export interface SpokenEvent {
  readonly event: string | null;
  readonly data: JsonObject;
}

/** What one protocol says in the calls of the vectors, without any svc. */
export interface Spoken {
  readonly protocol: CallProtocol;
  /** Whether events have names, so that the last event carries svc; otherwise svc has a chunk of its own. */
  readonly named: boolean;
  readonly request: JsonObject;
  readonly body: JsonObject;
  readonly alteredBody: JsonObject;
  /** Four events; the last one will carry svc. */
  readonly events: readonly [SpokenEvent, SpokenEvent, SpokenEvent, SpokenEvent];
  /** Payload in place of that of the second event. */
  readonly altered: JsonObject;
  /** The end of a stream that broke: the error, unless the last event is the error, and the last event. */
  readonly failure: { readonly error: SpokenEvent | null; readonly last: SpokenEvent };
}

const model = 'example/model';
const head = { id: 'c-1', created: 1, model };
const unnamed = (data: JsonObject): SpokenEvent => ({ event: null, data });
const named = (data: JsonObject & { readonly type: string }): SpokenEvent => ({ event: data.type, data });

const delta = (content: JsonObject, finish_reason: string | null = null): JsonObject => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: content, finish_reason }],
});
const chatEnd = unnamed({ ...head, object: 'chat.completion.chunk', choices: [] });
const message = (content: string): JsonObject => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
});
const openAiFailure = unnamed({
  error: { message: 'The provider failed.', type: 'api_error', param: null, code: 'provider_failed' },
});

const chat: Spoken = {
  protocol: 'chat',
  named: false,
  request: { model, messages: [{ role: 'user', content: 'Say it.' }] },
  body: message('It is.'),
  alteredBody: message('It was.'),
  events: [
    unnamed(delta({ role: 'assistant', content: 'It' })),
    unnamed(delta({ content: ' is.' })),
    unnamed(delta({}, 'stop')),
    chatEnd,
  ],
  altered: delta({ content: ' was.' }),
  failure: { error: openAiFailure, last: chatEnd },
};

const piece = (text: string, finish_reason: string | null = null): JsonObject => ({
  ...head,
  object: 'text_completion',
  choices: [{ index: 0, text, logprobs: null, finish_reason }],
});
const completionsEnd = unnamed({ ...head, object: 'text_completion', choices: [] });

const completions: Spoken = {
  protocol: 'completions',
  named: false,
  request: { model, prompt: 'Say it.' },
  body: { ...piece('It is.', 'stop'), usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } },
  alteredBody: {
    ...piece('It was.', 'stop'),
    usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
  },
  events: [unnamed(piece('It')), unnamed(piece(' is.')), unnamed(piece('', 'stop')), completionsEnd],
  altered: piece(' was.'),
  failure: { error: openAiFailure, last: completionsEnd },
};

const output = (text: string): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const response = (status: string, items: JsonObject[], error: JsonObject | null = null): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  error,
  model,
  output: items,
});
const outputDelta = (text: string, sequence_number: number) => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta: text,
  sequence_number,
});

const responses: Spoken = {
  protocol: 'responses',
  named: true,
  request: { model, input: 'Say it.', store: false },
  body: response('completed', [output('It is.')]),
  alteredBody: response('completed', [output('It was.')]),
  events: [
    named({ type: 'response.created', response: response('in_progress', []), sequence_number: 0 }),
    named(outputDelta('It', 1)),
    named(outputDelta(' is.', 2)),
    named({
      type: 'response.completed',
      response: response('completed', [output('It is.')]),
      sequence_number: 3,
    }),
  ],
  altered: outputDelta('He', 1),
  failure: {
    error: null,
    last: named({
      type: 'response.failed',
      response: response('failed', [], { code: 'server_error', message: 'The provider failed.' }),
      sequence_number: 2,
    }),
  },
};

const blocks = (text: string): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 2 },
});
const textDelta = (text: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});

const messages: Spoken = {
  protocol: 'messages',
  named: true,
  request: { model, max_tokens: 64, messages: [{ role: 'user', content: 'Say it.' }] },
  body: blocks('It is.'),
  alteredBody: blocks('It was.'),
  events: [
    named({ type: 'message_start', message: { ...blocks(''), content: [], stop_reason: null } }),
    named(textDelta('It')),
    named(textDelta(' is.')),
    named({ type: 'message_stop' }),
  ],
  altered: textDelta('He'),
  failure: {
    error: null,
    last: named({ type: 'error', error: { type: 'api_error', message: 'The provider failed.' } }),
  },
};

export const PROTOCOLS: readonly Spoken[] = [chat, completions, responses, messages];
