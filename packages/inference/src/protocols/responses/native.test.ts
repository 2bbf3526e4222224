import type { JsonObject, JsonValue } from '@tallystick/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../providers/provider.ts';
import { answerOf } from './answer.ts';
import { errorIn, innerAnswer, ResponseReader } from './native.ts';
import { innerOf } from './request.ts';
import { ResponseEncoder } from './stream.ts';

const given = { request: { input: 'hi' }, id: 'r', model: 'm', created: 1_760_000_000 };
const usage = {
  promptTokens: 12,
  completionTokens: 8,
  cachedTokens: 4,
  hidden: 3,
  estimated: false,
} as const;

const response = (output: JsonObject[], members: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 5,
  model: 'gpt',
  status: 'completed',
  error: null,
  output,
  usage: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 8,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 20,
  },
  ...members,
});

const message = (...content: JsonObject[]): JsonObject => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  content,
});
const text = (said: string): JsonObject => ({ type: 'output_text', text: said, annotations: [] });

const take = (events: readonly JsonObject[]): JsonObject[] => {
  const stream = new ResponseReader('openai');
  return events.flatMap((event) => stream.take(event));
};

describe('an answer of a provider', () => {
  it('becomes one of chat', () => {
    const { body, usage: counted } = innerAnswer(
      'openai',
      response([
        {
          id: 'rs',
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: 'gAAA',
        },
        message(text('Hel'), text('lo'), { type: 'refusal', refusal: 'No.' }),
        { id: 'fc', type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { id: 'ct', type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x' },
      ]),
    );
    expect(counted).toEqual(usage);
    expect(body).toMatchObject({
      id: 'resp_1',
      object: 'chat.completion',
      created: 5,
      model: 'gpt',
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Hello',
            refusal: 'No.',
            reasoning_details: [
              { type: 'reasoning.summary', summary: 'Hm.', id: 'rs' },
              { type: 'reasoning.encrypted', data: 'gAAA', id: 'rs', format: 'openai-responses-v1' },
            ],
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
              { id: 'c2', type: 'custom', custom: { name: 'patch', input: 'x' } },
            ],
          },
        },
      ],
    });
  });

  it.each<[string, JsonObject, string]>([
    ['is whole', {}, 'stop'],
    ['is too long', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [
      'is withheld',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'content_filter',
    ],
  ])('that %s says so', (_, members, finish) => {
    const { body } = innerAnswer('openai', response([message(text('Hi'))], members));
    expect(body).toMatchObject({ choices: [{ finish_reason: finish }] });
  });

  it('with the work of a tool of the provider’s is not counted here', () => {
    const search = { id: 'ws', type: 'web_search_call', status: 'completed' };
    const plain = { output_tokens_details: {} };
    const { usage: counted } = innerAnswer(
      'openai',
      response([search, message(text('Hi'))], { usage: { input_tokens: 1, output_tokens: 2, ...plain } }),
    );
    expect(counted).toMatchObject({ hidden: 'unknown' });
  });

  it.each<[string, JsonObject, string]>([
    ['no output', response([], { output: null }), 'bad_answer'],
    ['another status', response([], { status: 'queued' }), 'bad_answer'],
  ])('with %s is none', (_, answer, kind) => {
    expect(() => innerAnswer('openai', answer)).toThrow(expect.objectContaining({ kind }));
  });
});

describe('a stream of a provider', () => {
  const begun = response([], { status: 'in_progress' });
  const start: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
  ];

  it('begins only with output, so that a call whose provider fails at once can go to another', () => {
    expect(take(start)).toEqual([]);
  });

  it('marks what is not shown, and ends once', () => {
    const stream = new ResponseReader('openai');
    for (const event of start) stream.take(event);
    stream.take({ type: 'response.output_item.added', output_index: 0, item: { type: 'web_search_call' } });
    expect(stream.unseen).toBe(true);
    stream.take({ type: 'response.web_search_call.searching', output_index: 0 });
    expect(stream.ended).toBe(false);
    stream.take({ type: 'response.completed', response: response([]) });
    expect(stream.ended).toBe(true);
    expect(() => stream.take({ type: 'response.output_text.delta', delta: 'x' })).toThrow(ProviderError);
  });

  it('of a custom tool, and with a citation', () => {
    const item = { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: '' };
    const cited = { type: 'url_citation', url: 'https://example.org' };
    const deltas = take([
      ...start,
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'x' },
      { type: 'response.output_text.annotation.added', output_index: 1, annotation: cited },
    ]).map(({ choices }) => (choices as JsonObject[])[0]?.['delta']);
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { tool_calls: [{ index: 0, id: 'c', type: 'custom', custom: { name: 'patch', input: '' } }] },
      { tool_calls: [{ index: 0, custom: { input: 'x' } }] },
      { annotations: [cited] },
    ]);
  });
});

describe('a failure', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [
      'in an event as documented',
      { type: 'error', code: 'x', message: 'm', param: null },
      { code: 'x', message: 'm', status: 500 },
    ],
    [
      'in an event as sent',
      { type: 'error', error: { code: 'invalid_prompt', message: 'm' } },
      { code: 'invalid_prompt', message: 'm', status: 400 },
    ],
    [
      'at the end of a stream',
      { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded' } } },
      { code: 'rate_limit_exceeded', status: 429 },
    ],
    ['without words', { type: 'response.failed', response: { error: null } }, { status: 500 }],
    ['in an answer', response([], { status: 'failed', error: { code: 'server_error' } }), { status: 500 }],
  ])('%s is told with its status', (_, json, error) => {
    expect(errorIn(json)).toMatchObject(error);
  });

  it('is not in what went well', () => {
    expect(errorIn(response([]))).toBeNull();
    expect(errorIn({ type: 'response.completed', response: response([]) })).toBeNull();
    expect(errorIn({ type: 'response.output_text.delta', delta: 'error' })).toBeNull();
  });
});

describe('what is written here', () => {
  const said = fc.record({
    reasoning: fc.string({ maxLength: 5 }),
    text: fc.string({ minLength: 1, maxLength: 5 }),
    refusal: fc.string({ maxLength: 5 }),
    calls: fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 3 }),
    finish: fc.constantFrom('stop', 'length', 'content_filter'),
  });

  it('is read here as the same answer, in one piece and streamed, and comes back with the next request', () => {
    fc.assert(
      fc.property(said, ({ reasoning, text: content, refusal, calls, finish }) => {
        const details = reasoning === '' ? [] : [{ type: 'reasoning.text', text: reasoning }];
        const tools = calls.map((args, index) => ({
          id: `c${index}`,
          type: 'function',
          function: { name: 'f', arguments: args },
        }));
        const delta = {
          role: 'assistant',
          content,
          refusal: refusal || null,
          ...(details.length > 0 && { reasoning_details: details }),
          ...(tools.length > 0 && { tool_calls: tools }),
        };
        const reason = calls.length > 0 && finish === 'stop' ? 'tool_calls' : finish;
        const encoder = new ResponseEncoder(given);
        const chunk = { choices: [{ index: 0, delta, finish_reason: reason }] };
        const events = [...encoder.take(chunk), ...encoder.end(usage)].map(({ data }) => data);
        const answer = events.at(-1)?.['response'] as JsonObject;
        const { body } = innerAnswer('openai', answer);
        expect(read(body)).toEqual(read({ choices: [{ message: delta, finish_reason: reason }] }));

        const again = new ResponseEncoder(given);
        const chunks = take(events);
        const isUsage = ({ choices }: JsonObject): boolean => Array.isArray(choices) && choices.length === 0;
        expect(chunks.filter(isUsage)).toHaveLength(1);
        const told = chunks.filter((one) => !isUsage(one)).flatMap((one) => again.take(one));
        expect([...told, ...again.end(usage)].at(-1)?.data['response']).toEqual(answer);
        expect(answerOf(body, given)['output']).toEqual(answer['output']);

        const input = answer['output'] as JsonValue;
        const [message] = innerOf({ input })['messages'] as JsonObject[];
        expect(message).toMatchObject({ role: 'assistant', ...(tools.length > 0 && { tool_calls: tools }) });
      }),
      { numRuns: 150 },
    );
  });
});

/** What an answer in chat's form says, without where its reasoning stood. */
function read(body: JsonObject): JsonObject {
  const [choice = {}] = body['choices'] as JsonObject[];
  const { reasoning_details: details = [], ...message } = choice['message'] as JsonObject;
  const thoughts = (details as JsonObject[]).map(({ type = '', text: thought = '' }) => ({
    type,
    text: thought,
  }));
  return { ...message, thoughts, finish: choice['finish_reason'] ?? null };
}
