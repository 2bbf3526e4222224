import type { JsonObject } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { messagesRequest } from './anthropic-request.ts';
import { retryAfter } from './failures.ts';
import { ollamaRequest } from './ollama-request.ts';
import { ProviderError } from './provider.ts';

const image = 'data:image/png;base64,aGk=';
const schema = { type: 'object', properties: { a: { type: 'string' } } };
const tool = {
  type: 'function',
  function: { name: 'weather', description: 'Tells it.', parameters: schema },
};
const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"place":"Zürich"}' } };
const user = { role: 'user', content: 'hi' };

const conversation: JsonObject = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: image } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 'c2' }] },
    { role: 'tool', tool_call_id: 'c1', content: 'rain' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'sun' }] },
    { role: 'developer', content: 'In German.' },
    { role: 'user', content: 'So?' },
  ],
  tools: [tool],
  tool_choice: 'required',
  parallel_tool_calls: false,
  stop: 'END',
  max_completion_tokens: 9,
  temperature: 1.5,
};

describe('a request to Anthropic', () => {
  it('holds the same conversation', () => {
    const input = { place: 'Zürich' };
    expect(messagesRequest('m', conversation)).toStrictEqual({
      model: 'm',
      max_tokens: 9,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'In German.' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?', cache_control: { type: 'ephemeral' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'c1', name: 'weather', input },
            { type: 'tool_use', id: 'c2', name: 'weather', input },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'rain' },
            { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'sun' }] },
          ],
        },
        { role: 'user', content: 'So?' },
      ],
      tools: [{ name: 'weather', description: 'Tells it.', input_schema: schema }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
      temperature: 1,
    });
  });

  it.each<[JsonObject, JsonObject]>([
    [{ tool_choice: 'auto' }, { tool_choice: { type: 'auto' } }],
    [{ tool_choice: 'none' }, { tool_choice: { type: 'none' } }],
    [
      { tool_choice: { type: 'function', function: { name: 'weather' } } },
      { tool_choice: { type: 'tool', name: 'weather' } },
    ],
    [
      { stop: ['a', 'b'], stream: true, user: 'u' },
      { stop_sequences: ['a', 'b'], stream: true, metadata: { user_id: 'u' } },
    ],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
      { output_config: { format: { type: 'json_schema', schema } } },
    ],
    [
      { response_format: { type: 'json_object' } },
      { system: [{ type: 'text', text: expect.stringMatching(/JSON/) as string }] },
    ],
    [{ max_tokens: null }, { max_tokens: 4_096 }],
  ])('translates %j', (members, expected) => {
    expect(messagesRequest('m', { messages: [user], tools: [tool], ...members })).toMatchObject(expected);
  });
});

describe('a request to Ollama', () => {
  it('holds the same conversation', () => {
    const called = { function: { name: 'weather', arguments: { place: 'Zürich' } } };
    expect(ollamaRequest('m', { ...conversation, tool_choice: 'auto' })).toStrictEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is it?', images: ['aGk='] },
        { role: 'assistant', content: '', tool_calls: [called, called] },
        { role: 'tool', content: 'rain', tool_name: 'weather' },
        { role: 'tool', content: 'sun', tool_name: 'weather' },
        { role: 'system', content: 'In German.' },
        { role: 'user', content: 'So?' },
      ],
      tools: [tool],
      options: { num_predict: 9, stop: ['END'], temperature: 1.5 },
      stream: false,
    });
  });

  it('fetches no image', () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }];
    expect(() => ollamaRequest('m', { messages: [{ role: 'user', content }] })).toThrow(ProviderError);
  });
});

describe.each([
  ['anthropic', (body: JsonObject) => messagesRequest('m', body)],
  ['ollama', (body: JsonObject) => ollamaRequest('m', body)],
] as const)('a request that %s has no words for', (_, translate) => {
  it.each<[string, JsonObject]>([
    ['n', { messages: [user], n: 2 }],
    ['logprobs', { messages: [user], logprobs: true }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }],
    [
      'messages',
      {
        messages: [{ role: 'assistant', tool_calls: [{ ...call, function: { name: 'x', arguments: '[' } }] }],
      },
    ],
  ])('is refused for its %s', (param, body) => {
    const refused: unknown = expect.objectContaining({
      kind: 'refused',
      status: 400,
      error: expect.objectContaining({ param, type: 'invalid_request_error' }) as unknown,
    });
    expect(() => translate(body)).toThrow(refused);
  });
});

describe('retryAfter', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '1.5', 'retry-after-ms': '20' }, 20],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 4_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:01 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (headers, milliseconds) => {
    expect(retryAfter((name) => headers[name], 5_000)).toBe(milliseconds);
  });
});
