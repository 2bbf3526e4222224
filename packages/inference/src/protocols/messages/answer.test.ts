import Anthropic from '@anthropic-ai/sdk';
import { type JsonObject, TallyError } from '@tallystick/core';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { completionOf } from '../../providers/anthropic-answer.ts';
import { MessageStream } from '../../providers/anthropic-stream.ts';
import { formatUsage, isUsageChunk, readUsage } from '../../providers/usage.ts';
import type { Usage } from '../../types.ts';
import type { SseEvent } from '../protocol.ts';
import { answerOf } from './answer.ts';
import { MessageEncoder } from './stream.ts';

const given = { request: {}, id: 'env_1', model: 'acme/one', created: 1 };
const head = { id: 'c1', created: 1, model: 'one' };
const usage: Usage = {
  promptTokens: 20,
  completionTokens: 8,
  cachedTokens: 4,
  cacheWriteTokens: 6,
  hidden: 3,
  estimated: false,
};

const completion = (message: JsonObject, ends: JsonObject): JsonObject => ({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, ...ends }],
  usage: formatUsage(usage),
});

const chunk = (delta: JsonObject, ends: JsonObject = { finish_reason: null }): JsonObject => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, ...ends }],
});

function events(chunks: readonly JsonObject[]): SseEvent[] {
  const encoder = new MessageEncoder(given);
  return [...chunks.flatMap((one) => encoder.take(one)), ...encoder.end(usage)];
}

/** What Anthropic's own client makes of the events, without what it parses of it. */
async function accumulated(said: readonly SseEvent[]): Promise<Anthropic.Message> {
  const body = said.map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');
  const client = new Anthropic({
    apiKey: 'k',
    baseURL: 'http://127.0.0.1:1',
    fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const messages = [{ role: 'user', content: 'x' }] as const;
  const stream = client.messages.stream({ model: 'm', max_tokens: 1, messages: [...messages] });
  const { parsed_output: _parsed, ...message } = await stream.finalMessage();
  return message;
}

it('an answer is a message', () => {
  const message = {
    content: 'It rains.',
    reasoning_details: [
      { type: 'reasoning.text', text: 'Clouds.', signature: 's' },
      { type: 'reasoning.summary', summary: 'In short.' },
      { type: 'reasoning.encrypted', data: 'x' },
      { type: 'reasoning.encrypted', data: 'y', id: 'rs_1' },
    ],
    annotations: [{ type: 'url_citation', url_citation: { url: 'https://example.org', title: 'A' } }],
    tool_calls: [
      { id: 't1', type: 'function', function: { name: 'weather', arguments: '{"a":1}' } },
      { id: 't2', type: 'function', function: { name: 'weather', arguments: '' }, extra_content: { a: 1 } },
      { id: 't3', type: 'function', function: { name: 'weather', arguments: '[' } },
    ],
  };
  const caller = { type: 'direct' } as const;
  const answer: Anthropic.Message = {
    id: 'msg_env_1',
    type: 'message',
    role: 'assistant',
    model: 'acme/one',
    container: null,
    diagnostics: null,
    content: [
      { type: 'thinking', thinking: 'Clouds.', signature: 's' },
      { type: 'thinking', thinking: 'In short.', signature: '' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'redacted_thinking', data: 'tallystick:{"type":"reasoning.encrypted","data":"y","id":"rs_1"}' },
      {
        type: 'text',
        text: 'It rains.',
        citations: [
          {
            type: 'web_search_result_location',
            url: 'https://example.org',
            title: 'A',
            cited_text: '',
            encrypted_index: '',
          },
        ],
      },
      { type: 'tool_use', id: 't1', name: 'weather', input: { a: 1 }, caller },
      { type: 'redacted_thinking', data: 'tallystick:{"id":"t2","extra_content":{"a":1}}' },
      { type: 'tool_use', id: 't2', name: 'weather', input: {}, caller },
      { type: 'tool_use', id: 't3', name: 'weather', input: { invalid_arguments: '[' }, caller },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: null,
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 6,
      cache_read_input_tokens: 4,
      output_tokens: 8,
      output_tokens_details: { thinking_tokens: 3 },
      cache_creation: null,
      inference_geo: null,
      server_tool_use: null,
      service_tier: null,
      speed: null,
    },
  };
  expect(answerOf(completion(message, { finish_reason: 'tool_calls' }), given)).toEqual(answer);
});

it.each(['tool_calls', 'stop', null])(
  'an answer with a tool call that ended with %s waits for its result',
  async (finish) => {
    const call = { index: 0, id: 't1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const ends = { finish_reason: finish };
    const expected = { stop_reason: 'tool_use' };
    expect(answerOf(completion({ content: null, tool_calls: [call] }, ends), given)).toMatchObject(expected);
    const said = events([chunk({ tool_calls: [call] }), chunk({}, ends)]);
    expect(await accumulated(said)).toMatchObject(expected);
  },
);

it.each<[JsonObject, Partial<Anthropic.Message>]>([
  [{ finish_reason: 'stop' }, { stop_reason: 'end_turn' }],
  [{ finish_reason: 'length' }, { stop_reason: 'max_tokens' }],
  [
    { finish_reason: 'stop', stop_reason: 'END' },
    { stop_reason: 'stop_sequence', stop_sequence: 'END' },
  ],
  [
    { finish_reason: 'content_filter' },
    { stop_reason: 'refusal', stop_details: { type: 'refusal', category: null, explanation: null } },
  ],
  [{ finish_reason: 'stop', native_finish_reason: 'pause_turn' }, { stop_reason: 'pause_turn' }],
  [{ finish_reason: 'stop', native_finish_reason: 'STOP' }, { stop_reason: 'end_turn' }],
  [{ finish_reason: null }, { stop_reason: 'end_turn' }],
])('an answer with %j ends so too', async (ends, expected) => {
  expect(answerOf(completion({ content: 'x' }, ends), given)).toMatchObject(expected);
  expect(await accumulated(events([chunk({ content: 'x' }), chunk({}, ends)]))).toMatchObject(expected);
});

it('a refusal is told as a text and as the reason of the end', async () => {
  const expected = {
    content: [{ type: 'text', text: 'No.' }],
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: null, explanation: 'No.' },
  };
  const ends = { finish_reason: 'stop' };
  expect(answerOf(completion({ content: null, refusal: 'No.' }, ends), given)).toMatchObject(expected);
  expect(await accumulated(events([chunk({ refusal: 'No.' }), chunk({}, ends)]))).toMatchObject(expected);
});

const text = fc.string({ minLength: 1, unit: 'grapheme' });
const pieces = fc.array(text, { maxLength: 4 });
const detail = fc.oneof(
  fc.record({ type: fc.constant('reasoning.text'), text: pieces, signature: fc.option(text, { nil: '' }) }),
  fc.record({ type: fc.constant('reasoning.encrypted'), data: text }),
);
const call = fc.record({ name: text, input: fc.dictionary(text, text), cut: fc.nat({ max: 20 }) });
const finish = fc.constantFrom('stop', 'length', 'content_filter', 'tool_calls');

it('the events add up to the answer in one piece', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(detail, { maxLength: 3 }),
      pieces,
      fc.array(call, { maxLength: 3 }),
      finish,
      check,
    ),
    { numRuns: 60 },
  );
});

type Detail = typeof detail extends fc.Arbitrary<infer Value> ? Value : never;
type Called = typeof call extends fc.Arbitrary<infer Value> ? Value : never;

async function check(details: Detail[], said: string[], calls: Called[], reason: string): Promise<void> {
  const whole = details.map((one) =>
    'data' in one
      ? one
      : {
          type: one.type,
          text: one.text.join(''),
          ...(one.signature !== '' && { signature: one.signature }),
        },
  );
  const thought = details.flatMap((one, index): JsonObject[] =>
    'data' in one
      ? [one]
      : [
          { type: one.type, text: '', index },
          ...one.text.map((piece) => ({ type: one.type, text: piece, index })),
          ...(one.signature === '' ? [] : [{ type: one.type, signature: one.signature, index }]),
        ],
  );
  const made = calls.map(({ name, input }, index) => ({
    id: `t${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    ...thought.map((one) => chunk({ reasoning_details: [one] })),
    ...said.map((content) => chunk({ content })),
    ...made.flatMap(({ id, type, function: { name, arguments: given } }, index) => {
      const cut = calls[index]?.cut ?? 0;
      return [
        chunk({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: given.slice(0, cut) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: given.slice(cut) } }] }),
      ];
    }),
    chunk({}, { finish_reason: reason }),
  ];
  const message = { content: said.join(''), reasoning_details: whole, tool_calls: made };
  const answer = answerOf(completion(message, { finish_reason: reason }), given);
  expect(await accumulated(events(chunks))).toEqual(answer);
}

it('a stream keeps the order of thinking and text', async () => {
  const details = (index: number, text: string): JsonObject =>
    chunk({ reasoning_details: [{ type: 'reasoning.text', text, index }] });
  const said = [details(0, 'a'), chunk({ content: 'b' }), details(2, 'c'), chunk({ content: 'd' })];
  const { content } = await accumulated(events(said));
  expect(content.map(({ type }) => type)).toEqual(['thinking', 'text', 'thinking', 'text']);
});

it('calls that share an index are told apart by their ids', async () => {
  const piece = (id: string): JsonObject =>
    chunk({ tool_calls: [{ index: 0, id, function: { name: 'a', arguments: `{"of":"${id}"}` } }] });
  const { content } = await accumulated(events([piece('t1'), piece('t2')]));
  expect(content).toMatchObject([
    { id: 't1', input: { of: 't1' } },
    { id: 't2', input: { of: 't2' } },
  ]);
});

it.each([{}, { id: '' }])('a call gets an id, if its provider gives it %j', async (head) => {
  const call = (index: number) => ({
    ...head,
    index,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
    extra_content: { a: index },
  });
  const calls = [call(0), call(1)];
  const expected = [
    { type: 'redacted_thinking', data: expect.stringContaining('"id":"toolu_env_1_0"') },
    { type: 'tool_use', id: 'toolu_env_1_0' },
    { type: 'redacted_thinking', data: expect.stringContaining('"id":"toolu_env_1_1"') },
    { type: 'tool_use', id: 'toolu_env_1_1' },
  ];
  const ends = { finish_reason: 'tool_calls' };
  expect(answerOf(completion({ content: null, tool_calls: calls }, ends), given)['content']).toMatchObject(
    expected,
  );
  const chunks = [...calls.map((one) => chunk({ tool_calls: [one] })), chunk({}, ends)];
  expect((await accumulated(events(chunks))).content).toMatchObject(expected);
});

it('pieces of calls and of text that alternate become blocks that follow each other', async () => {
  const begin = (index: number): JsonObject => ({
    index,
    id: `t${index}`,
    function: { name: 'f', arguments: '' },
  });
  const piece = (index: number, text: string): JsonObject => ({ index, function: { arguments: text } });
  const said = events([
    chunk({ content: 'a' }),
    chunk({ tool_calls: [begin(0), begin(1)] }),
    chunk({ tool_calls: [piece(0, '{"of":')] }),
    chunk({ content: 'b', tool_calls: [piece(1, '{"of":')] }),
    chunk({ content: 'c', tool_calls: [piece(1, '1'), piece(0, '0'), begin(2), piece(1, '}')] }),
    chunk({ tool_calls: [piece(0, '}')] }),
    chunk({ tool_calls: [piece(2, '{"of":')] }),
    chunk({ content: 'd' }),
    chunk({}, { finish_reason: 'tool_calls' }),
  ]);
  const { content } = await accumulated(said);
  expect(content).toMatchObject([
    { type: 'text', text: 'a' },
    { type: 'tool_use', id: 't0', input: { of: 0 } },
    { type: 'tool_use', id: 't1', input: { of: 1 } },
    { type: 'text', text: 'bc' },
    { type: 'tool_use', id: 't2' },
    { type: 'text', text: 'd' },
  ]);
  const marks = said.flatMap(({ event, data: { index } }) =>
    typeof index === 'number' && event !== 'content_block_delta' ? [`${String(event)} ${index}`] : [],
  );
  expect(marks).toEqual(
    content.flatMap((_, index) => [`content_block_start ${index}`, `content_block_stop ${index}`]),
  );
});

it('an answer that breaks off gives first what waited for the end of a call', () => {
  const encoder = new MessageEncoder(given);
  encoder.take(chunk({ tool_calls: [{ index: 0, id: 't0', function: { name: 'f', arguments: '{' } }] }));
  expect(encoder.take(chunk({ content: 'a' }))).toEqual([]);
  const last = encoder.fail(new TallyError('provider_failed', 'It broke.'));
  expect(last.map(({ event }) => event)).toEqual([
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'error',
  ]);
});

it('a piece of a call that is closed is no answer', () => {
  const encoder = new MessageEncoder(given);
  const piece = (index: number, id?: string, text = '{'): JsonObject =>
    chunk({ tool_calls: [{ index, ...(id !== undefined && { id }), function: { arguments: text } }] });
  encoder.take(piece(0, 't1', '{}'));
  encoder.take(piece(1, 't2'));
  expect(encoder.take(piece(0, undefined, '\n'))).toEqual([]);
  expect(() => encoder.take(piece(0))).toThrow(expect.objectContaining({ kind: 'bad_answer' }));
});

it('a failure is an event of its own', () => {
  const error = new TallyError('provider_failed', 'It broke.');
  const data = {
    type: 'error',
    error: { type: 'api_error', message: 'It broke.', details: { error_code: 'provider_failed' } },
  };
  expect(new MessageEncoder(given).fail(error)).toEqual([{ event: 'error', data }]);
});

/** A message of Anthropic's, whole and in its events. */
const message: JsonObject = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [
    { type: 'thinking', thinking: 'Clouds.', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'b3BhcXVl' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 't1', name: 'weather', input: { a: 1 } },
  ],
  stop_reason: 'stop_sequence',
  stop_sequence: 'END',
  usage: {
    input_tokens: 10,
    cache_creation_input_tokens: 6,
    cache_read_input_tokens: 4,
    output_tokens: 8,
    output_tokens_details: { thinking_tokens: 3 },
  },
};

const native: JsonObject[] = [
  {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, usage: message['usage'] ?? {} },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Clo' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'uds.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'b3BhcXVl' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'I look.' } },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'tool_use', id: 't1', name: 'weather', input: {} },
  },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
  { type: 'content_block_stop', index: 3 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    usage: { output_tokens: 8 },
  },
  { type: 'message_stop' },
];

it('an answer of Anthropic’s keeps its thinking, its end and its counts through the inner form', async () => {
  const expected = {
    content: message['content'],
    stop_reason: 'stop_sequence',
    stop_sequence: 'END',
    usage: message['usage'],
  };
  const { body, usage: counted } = completionOf(message, 1);
  expect(counted).toEqual(usage);
  expect(answerOf(body, given)).toMatchObject(expected);

  const stream = new MessageStream('anthropic', 1);
  const chunks = native.flatMap((event) => stream.take(event));
  expect(readUsage(chunks.at(-1) ?? null, stream.unseen)).toEqual(usage);
  const said = chunks.filter((one) => !isUsageChunk(one));
  expect(await accumulated(events(said))).toMatchObject(expected);
});
