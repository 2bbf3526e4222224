import type Anthropic from '@anthropic-ai/sdk';
import type { JsonObject, JsonValue } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { messagesRequest } from '../../providers/anthropic-request.ts';
import { conversationOf } from './conversation.ts';
import { innerOf } from './inner.ts';
import { nativeOnly } from './native-only.ts';
import { messagesRequestSchema as schema } from './schema.ts';

/** Newest models refuse to be sampled, so the client's types leave that out. */
type Request = Anthropic.MessageCreateParams & {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
};
type Beta = Anthropic.Beta.MessageCreateParams;

const read = (request: Request | Beta): JsonObject =>
  schema.parse(JSON.parse(JSON.stringify(request))) as JsonObject;

const user = { role: 'user', content: 'hi' } as const;
const head = { model: 'm', max_tokens: 9, messages: [user] } satisfies Request;
const cache = { cache_control: { type: 'ephemeral', ttl: '1h' } } as const;
const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'aGk=' },
  ...cache,
} as const;

/** Everything that both APIs can say. */
const rich: Request = {
  model: 'm',
  max_tokens: 4_096,
  system: [
    { type: 'text', text: 'Be brief.' },
    { type: 'text', text: 'Be kind.', ...cache },
  ],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?', ...cache },
        image,
        { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
        {
          type: 'document',
          title: 'a.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
          ...cache,
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
        { type: 'document', source: { type: 'url', url: 'https://example.org/a.pdf' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'A picture.', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'b3BhcXVl' },
        { type: 'text', text: 'I look.' },
        { type: 'thinking', thinking: 'Two tools.', signature: 'c2lnMg==' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { place: 'Zürich' } },
        { type: 'tool_use', id: 'toolu_2', name: 'weather', input: {}, ...cache },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'rain', is_error: false, ...cache },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
          content: [{ type: 'text', text: 'no' }, image],
          is_error: true,
        },
        { type: 'text', text: 'So?' },
      ],
    },
    { role: 'assistant', content: 'It rains' },
  ],
  tools: [
    {
      name: 'weather',
      description: 'Tells it.',
      input_schema: { type: 'object', properties: { place: { type: 'string' } } },
      strict: true,
      input_examples: [{ place: 'Bern' }],
      eager_input_streaming: true,
      ...cache,
    },
  ],
  tool_choice: { type: 'any', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' },
  output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
  stop_sequences: ['END', 'STOP'],
  temperature: 1,
  top_p: 0.9,
  top_k: 40,
  metadata: { user_id: 'u' },
  service_tier: 'standard_only',
  stream: true,
  ...cache,
};

/** Turns of one role that follow each other are one turn to Anthropic. */
function merged({ messages, ...rest }: JsonObject): JsonObject {
  const turns: JsonObject[] = [];
  for (const { role = '', content = '' } of messages as JsonObject[]) {
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : (content as JsonObject[]);
    const last = turns.at(-1);
    if (last?.['role'] === role) (last['content'] as JsonObject[]).push(...blocks);
    else turns.push({ role, content: [...blocks] });
  }
  return { ...rest, messages: turns };
}

describe('a Messages request in inner form', () => {
  it('keeps what both APIs can say, on its way to Anthropic and back', () => {
    const body = read(rich);
    expect(nativeOnly(body)).toEqual([]);
    expect(merged(messagesRequest('m', innerOf(body)))).toStrictEqual(merged(body));
  });

  it('is a chat completion', () => {
    expect(innerOf(read(rich))).toMatchObject({
      max_completion_tokens: 4_096,
      messages: [
        { role: 'system', content: [{ text: 'Be brief.' }, { text: 'Be kind.', ...cache }] },
        {
          role: 'user',
          content: [
            { type: 'text' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' }, ...cache },
            { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,aGk=', filename: 'a.pdf' } },
            { type: 'file', file: { file_data: 'data:text/plain;base64,R3LDvMOfZQ==' } },
            { type: 'file', file: { file_data: 'https://example.org/a.pdf' } },
          ],
        },
        {
          role: 'assistant',
          reasoning_details: [
            { type: 'reasoning.text', text: 'A picture.', signature: 'c2ln' },
            { type: 'reasoning.encrypted', data: 'b3BhcXVl' },
          ],
          content: [{ text: 'I look.' }],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [{ text: 'Two tools.' }],
          tool_calls: [
            {
              id: 'toolu_1',
              type: 'function',
              function: { name: 'weather', arguments: '{"place":"Zürich"}' },
            },
            { id: 'toolu_2', function: { arguments: '{}' }, ...cache },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'rain', is_error: false, ...cache },
        {
          role: 'tool',
          tool_call_id: 'toolu_2',
          content: [{ text: 'no' }, { type: 'image_url' }],
          is_error: true,
        },
        { role: 'user', content: [{ text: 'So?' }] },
        { role: 'assistant', content: 'It rains' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', strict: true }, ...cache }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      reasoning: { max_tokens: 2_000, effort: 'high' },
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
      stop: ['END', 'STOP'],
      user: 'u',
      stream: true,
    });
  });

  it('tells where each of its texts stands', () => {
    const body = read(rich);
    const { messages, places } = conversationOf(body);
    const at = (path: readonly (string | number)[]): unknown =>
      path.reduce<unknown>((value, name) => (value as Record<string | number, unknown>)[name], body);
    expect(places).toHaveLength(8);
    for (const { message, part, path } of places) {
      const content = messages[message]?.['content'];
      const text = part === null ? content : ((content as JsonObject[])[part] ?? {})['text'];
      expect(at(path)).toBe(text);
    }
  });

  it.each<[Partial<Request>, JsonObject]>([
    [{ thinking: { type: 'adaptive' } }, { reasoning: { enabled: true } }],
    [{ thinking: { type: 'disabled' } }, { reasoning: { enabled: false } }],
    [{ output_config: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
    [{ tools: [], tool_choice: { type: 'none' } }, { tool_choice: 'none' }],
    [
      { tool_choice: { type: 'tool', name: 'a' } },
      { tool_choice: { type: 'function', function: { name: 'a' } } },
    ],
    [{ service_tier: 'auto' }, { service_tier: 'auto' }],
    [{ system: 'Be brief.' }, { messages: [{ role: 'system', content: 'Be brief.' }, user] }],
    [
      { messages: [user, { role: 'system', content: 'News.' }, { role: 'assistant', content: [] }] },
      { messages: [user, { role: 'system', content: 'News.' }, { role: 'assistant', content: '' }] },
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] },
      { messages: [{ role: 'tool', tool_call_id: 'a', content: '' }] },
    ],
  ])('has %j', (members, expected) => {
    const body = read({ ...head, ...members });
    expect(nativeOnly(body)).toEqual([]);
    expect(innerOf(body)).toMatchObject(expected);
  });

  it('gives the reasoning of other models back to them, and none of it to Anthropic', () => {
    const detail = { type: 'reasoning.encrypted', data: 'x', id: 'rs_1' };
    const extra = { google: { thought_signature: 's' } };
    const content: Anthropic.ContentBlockParam[] = [
      { type: 'thinking', thinking: 'Unsigned.', signature: '' },
      { type: 'redacted_thinking', data: `tallystick:${JSON.stringify(detail)}` },
      { type: 'text', text: 'I look.' },
      { type: 'redacted_thinking', data: `tallystick:${JSON.stringify({ id: 'c1', extra_content: extra })}` },
      { type: 'tool_use', id: 'c1', name: 'a', input: {} },
    ];
    const inner = innerOf(read({ ...head, messages: [user, { role: 'assistant', content }] }));
    expect(inner['messages']).toEqual([
      user,
      {
        role: 'assistant',
        reasoning_details: [{ type: 'reasoning.text', text: 'Unsigned.' }, detail],
        content: [{ type: 'text', text: 'I look.' }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'a', arguments: '{}' }, extra_content: extra },
        ],
      },
    ]);
    expect(messagesRequest('m', inner)['messages']).toMatchObject([
      user,
      { content: content.slice(2, 3).concat(content[4] ?? []) },
    ]);
  });
});

describe('what only a provider that speaks Messages can do', () => {
  it.each<[string, Partial<Request> | Partial<Beta>]>([
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    [
      'tools[0].defer_loading',
      { tools: [{ name: 'a', input_schema: { type: 'object' }, defer_loading: true }] },
    ],
    [
      'tools[0].allowed_callers',
      {
        tools: [
          { name: 'a', input_schema: { type: 'object' }, allowed_callers: ['code_execution_20250825'] },
        ],
      },
    ],
    ['container', { container: 'c' }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.org' }] }],
    ['thinking', { thinking: { type: 'between_tools' } }],
    [
      'messages[0].content[0].source',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
    ],
    [
      'messages[0].content[0].citations',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                source: { type: 'text', media_type: 'text/plain', data: 'x' },
                citations: { enabled: true },
              },
            ],
          },
        ],
      },
    ],
    [
      'messages[0].content[0].content[0].type',
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'a',
                content: [{ type: 'search_result', source: 's', title: 't', content: [] }],
              },
            ],
          },
        ],
      },
    ],
  ])('is %s', (member, members) => {
    expect(nativeOnly(read({ ...head, ...members } as Request))).toEqual([member]);
  });

  it('is nothing that coding agents always send', () => {
    const agent: Beta = {
      ...head,
      speed: 'standard',
      container: null,
      mcp_servers: [],
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
    };
    expect(nativeOnly(read(agent))).toEqual([]);
  });
});

it.each<[string, JsonObject]>([
  ['messages', { messages: [] }],
  ['messages', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
  ['messages', { messages: [{ role: 'tool', content: 'x' }] }],
  ['messages', { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b' }] }] }],
  ['max_tokens', { max_tokens: 0 }],
  ['system', { system: [{ type: 'image' }] }],
  ['tools', { tools: [{ name: 'a' }] }],
  ['thinking', { thinking: 'yes' }],
])('a malformed %s is refused', (member, members) => {
  const result = schema.safeParse({ ...head, ...members });
  expect(result.error?.issues.map(({ path: [first] }) => first)).toEqual([member]);
});

it.each<[string, JsonValue, JsonValue]>([
  ['inference_geo', 'us', 'global'],
  ['fallbacks', [{ model: 'claude-other' }], []],
])('%s is refused where it changes the model or its price', (field, dear, harmless) => {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
  expect(() => innerOf({ ...body, [field]: dear })).toThrow(
    expect.objectContaining({ code: 'invalid_request', field }),
  );
  for (const value of [harmless, null]) expect(innerOf({ ...body, [field]: value })).toEqual(innerOf(body));
});

it.each<[string, JsonObject]>([
  [
    'context_management.edits[1].type',
    { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }, { type: 'compact_20260112' }] } },
  ],
  ['compaction', { compaction: { type: 'summarize' } }],
])('%s is refused where the provider would summarize', (field, members) => {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...members };
  expect(() => innerOf(body)).toThrow(expect.objectContaining({ code: 'invalid_request', field }));
});

it('another speed is refused, since it is billed at other prices', () => {
  const body = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] };
  expect(() => innerOf({ ...body, speed: 'fast' })).toThrow(
    expect.objectContaining({ code: 'invalid_request', field: 'speed' }),
  );
  expect(innerOf({ ...body, speed: 'standard' })).toEqual(innerOf(body));
});
