import type { JsonObject } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { messagesRequest } from '../../providers/anthropic-request.ts';
import { packDetails } from './reasoning.ts';
import { fitsNative, innerOf, nativeOnly, textPlaces } from './request.ts';
import { responsesRequestSchema } from './schema.ts';

const url = 'data:image/png;base64,aGk=';
const pdf = 'data:application/pdf;base64,aGk=';
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { type: 'function', name: 'weather', description: 'Tells it.', parameters, strict: true };
const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'sig' }];

/** A request as clients send one: a conversation with everything that can be translated. */
const request: JsonObject = {
  model: 'auto',
  instructions: 'Be brief.',
  input: [
    {
      type: 'message',
      id: 'msg_a',
      role: 'developer',
      content: [{ type: 'input_text', text: 'In German.' }],
    },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is it?', prompt_cache_breakpoint: { mode: 'explicit' } },
        { type: 'input_image', image_url: url, detail: 'low' },
        { type: 'input_file', filename: 'a.pdf', file_data: pdf },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: packDetails(details) },
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Let me see.', annotations: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'weather', arguments: '{"city":"Zürich"}' },
    { type: 'function_call', id: 'fc_2', call_id: 'c2', name: 'weather', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'sun' }] },
    { role: 'assistant', content: 'Rain.' },
    { role: 'user', content: 'So?' },
  ],
  tools: [weather, { type: 'function', name: 'plain', parameters: null, strict: null }],
  tool_choice: { type: 'function', name: 'weather' },
  parallel_tool_calls: false,
  text: {
    format: { type: 'json_schema', name: 'place', schema: parameters, strict: true },
    verbosity: 'low',
  },
  reasoning: { effort: 'low', summary: 'auto' },
  max_output_tokens: 9,
  temperature: 0.5,
  top_p: null,
  include: ['reasoning.encrypted_content'],
  store: false,
  stream: true,
  truncation: 'disabled',
  prompt_cache_key: 'k',
  client_metadata: { a: 'b' },
  metadata: {},
  user: 'u',
};

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'system', content: [{ type: 'text', text: 'In German.' }] },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is it?', cache_control: { type: 'ephemeral' } },
      { type: 'image_url', image_url: { url, detail: 'low' } },
      { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } },
    ],
  },
  {
    role: 'assistant',
    content: 'Let me see.',
    reasoning_details: details,
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Zürich"}' } },
      { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'rain' },
  { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'sun' }] },
  { role: 'assistant', content: 'Rain.' },
  { role: 'user', content: 'So?' },
];

describe('a request', () => {
  it('becomes one of chat', () => {
    expect(responsesRequestSchema.parse(request)).toEqual(request);
    expect(innerOf(request)).toEqual({
      model: 'auto',
      messages,
      stream: true,
      max_completion_tokens: 9,
      temperature: 0.5,
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: 'Tells it.', parameters, strict: true },
        },
        { type: 'function', function: { name: 'plain' } },
      ],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'place', schema: parameters, strict: true },
      },
      verbosity: 'low',
      reasoning_effort: 'low',
      user: 'u',
    });
    expect(nativeOnly(request)).toEqual([]);
  });

  it('of one text is one message', () => {
    expect(innerOf({ input: 'hi' })).toEqual({ messages: [{ role: 'user', content: 'hi' }] });
    expect(textPlaces({ input: 'hi' })).toEqual([{ message: 0, part: null, path: ['input'] }]);
  });

  it('knows where each text of users and tools stands', () => {
    const places = textPlaces(request);
    const read = (value: unknown, path: readonly (string | number)[]): unknown =>
      path.reduce<unknown>((now, step) => (now as Record<string | number, unknown>)[step], value);
    const found = places.map(({ message, part, path }) => [
      read(request, path),
      read(messages, part === null ? [message, 'content'] : [message, 'content', part, 'text']),
    ]);
    expect(found.map(([there]) => there)).toEqual(['In German.', 'What is it?', 'rain', 'sun', 'So?']);
    for (const [there, inner] of found) expect(there).toBe(inner);
  });

  it('may name a parameter of a function as the API names what it keeps', () => {
    const parameters = { type: 'object', properties: { file_id: { type: 'string' } } };
    const tools = [{ type: 'function', name: 'read', parameters }];
    expect(innerOf({ input: 'hi', tools })).toMatchObject({ tools: [{ function: { parameters } }] });
  });

  it('with probabilities', () => {
    const asked = { input: 'hi', include: ['message.output_text.logprobs'], top_logprobs: 2 };
    expect(innerOf(asked)).toMatchObject({ logprobs: true, top_logprobs: 2 });
  });

  it('whose choice is among some tools offers only those', () => {
    const choice = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'weather' }],
    };
    const body = { ...request, tool_choice: choice };
    expect(innerOf(body)).toMatchObject({
      tools: [{ function: { name: 'weather' } }],
      tool_choice: 'required',
    });
    expect(nativeOnly(body)).toEqual([]);
  });

  it('keeps what the assistant said apart from what it called later', () => {
    const input = [
      { role: 'assistant', content: 'One.' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'gAAA' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Two.' }] },
      { type: 'function_call_output', call_id: 'c1', output: '' },
      { type: 'function_call_output', call_id: 'c2', output: '' },
    ];
    expect(innerOf({ input })['messages']).toEqual([
      { role: 'assistant', content: 'One.' },
      {
        role: 'assistant',
        content: 'Two.',
        reasoning_details: [
          { type: 'reasoning.summary', summary: 'Hm.' },
          { type: 'reasoning.encrypted', data: 'gAAA', format: 'openai-responses-v1', id: 'rs' },
        ],
        tool_calls: [{ id: 'c1' }, { id: 'c2' }].map((call) => ({
          ...call,
          type: 'function',
          function: { name: 'f', arguments: '{}' },
        })),
      },
      { role: 'tool', tool_call_id: 'c1', content: '' },
      { role: 'tool', tool_call_id: 'c2', content: '' },
    ]);
  });

  it('gives a call back what its provider wants back with it', () => {
    const extra = { google: { thought_signature: 's' } };
    const packed = packDetails([...details, { id: 'c', extra_content: extra }]);
    const input = [
      { type: 'reasoning', summary: [], encrypted_content: packed },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ];
    expect(innerOf({ input })['messages']).toMatchObject([
      { reasoning_details: details, tool_calls: [{ id: 'c', extra_content: extra }] },
    ]);
  });

  it('with reasoning that was packed here cannot go to another provider’s own API', () => {
    expect(fitsNative(request)).toBe(false);
    expect(fitsNative({ input: [{ type: 'reasoning', summary: [], encrypted_content: 'gAAA' }] })).toBe(true);
    expect(fitsNative({ input: 'hi' })).toBe(true);
  });
});

describe('refused', () => {
  it.each<[string, JsonObject]>([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['store', { store: true }],
    ['background', { background: true }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['input[0]', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['tools[0].type', { tools: [{ type: 'file_search', vector_store_ids: [] }] }],
    [
      'input[0].content[0].file_id',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    ],
    ['tools[0].environment.type', { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }],
    [
      'input[0].output.file_id',
      { input: [{ type: 'computer_call_output', call_id: 'c', output: { file_id: 'file-1' } }] },
    ],
  ])('because nothing is kept: %s', (field, body) => {
    expect(() => innerOf({ input: 'hi', ...body })).toThrow(
      expect.objectContaining({ code: 'state_not_kept', field }),
    );
  });

  it.each<[string, JsonObject]>([
    ['tools[0].name', { tools: [{ type: 'function' }] }],
    [
      'input[0].encrypted_content',
      { input: [{ type: 'reasoning', summary: [], encrypted_content: `${packDetails(details)}x` }] },
    ],
    ['input[0].content[0].image_url', { input: [{ role: 'user', content: [{ type: 'input_image' }] }] }],
    ['input[0].output[0].file_data', { input: [output({ type: 'input_file' })] }],
  ])('because it is not whole: %s', (field, body) => {
    expect(() => innerOf({ input: 'hi', ...body })).toThrow(
      expect.objectContaining({ code: 'invalid_request', field }),
    );
  });

  it.each<[string, JsonObject]>([
    ['no input', {}],
    ['an empty input', { input: [] }],
    ['a message without content', { input: [{ role: 'user' }] }],
    ['a call without a name', { input: [{ type: 'function_call', call_id: 'c', arguments: '' }] }],
    ['a text without text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    ['a schema without a schema', { input: 'hi', text: { format: { type: 'json_schema', name: 'n' } } }],
  ])('by the schema: %s', (_, body) => {
    expect(responsesRequestSchema.safeParse(body).success).toBe(false);
  });
});

it('a file by its address reaches a model of Anthropic’s', () => {
  const file = { type: 'input_file', filename: 'a.pdf', file_url: 'https://example.com/a.pdf' };
  const body = innerOf({ model: 'm', input: [{ role: 'user', content: [file] }] });
  expect(messagesRequest('m', body)).toMatchObject({
    messages: [
      {
        content: [
          { type: 'document', title: 'a.pdf', source: { type: 'url', url: 'https://example.com/a.pdf' } },
        ],
      },
    ],
  });
});

function output(part: JsonObject): JsonObject {
  return { type: 'function_call_output', call_id: 'c', output: [part] };
}

describe('only for a provider with the same API', () => {
  it.each<[string, JsonObject]>([
    ['tools[0].type', { tools: [{ type: 'web_search' }] }],
    ['tools[0].type', { tools: [{ type: 'custom', name: 'apply_patch' }] }],
    ['tools[0].type', { tools: [{ type: 'namespace', name: 'n', tools: [] }] }],
    ['tools[0].type', { tools: [{ type: 'local_shell' }] }],
    ['tools[0].defer_loading', { tools: [{ ...weather, defer_loading: true }] }],
    ['tool_choice', { tools: [weather], tool_choice: { type: 'custom', name: 'x' } }],
    ['input[0].type', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    [
      'input[0].namespace',
      { input: [{ type: 'function_call', call_id: '', name: '', arguments: '', namespace: 'n' }] },
    ],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
    ['context_management', { context_management: [{ type: 'compaction' }] }],
    ['reasoning.mode', { reasoning: { mode: 'pro' } }],
  ])('%s', (name, members) => {
    const body = { input: 'hi', ...members };
    expect(responsesRequestSchema.safeParse(body).success).toBe(true);
    expect(nativeOnly(body)).toEqual([name]);
    expect(innerOf(body)).toHaveProperty('messages[0]');
  });
});
