import { canonicalize, type JsonObject, sha256Hex, utf8 } from '@tallystick/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerHash, MODEL, type Routed, requestHash, type Svc, startRouted, svcOf } from './compute.ts';
import { apiKey, type Reply, startTestService, type TestService, toReply } from './service.ts';
import { defaultPieces, type Script } from './upstream-script.ts';
import { anthropicWire } from './upstream-wires.ts';

const PATHS = ['/v1/compute/messages', '/v1/compute/v1/messages'] as const;
const [MESSAGES] = PATHS;
const CLAUDE = 'anthropic/claude-haiku-4-5';
const said = defaultPieces.join('');
const head = { model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: 'Say it.' }] };
const tool = { name: 'weather', input_schema: { type: 'object' } };
const calls: Script = { toolCalls: [{ id: 't1', name: 'weather', pieces: ['{"ci', 'ty":"Zürich"}'] }] };

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted();
});
afterAll(() => routed.close());
beforeEach(() => {
  routed.upstream.requests.length = 0;
});

const ask = async (
  body: JsonObject = {},
  headers: Record<string, string> = {},
  path: string = MESSAGES,
): Promise<Reply> => toReply(await routed.post(path, { ...head, ...body }, headers));

interface Event {
  readonly event: string;
  readonly text: string;
  readonly data: JsonObject;
}

interface Streamed {
  readonly response: Response;
  readonly events: readonly Event[];
  readonly svc: Svc;
  /** Of the events as they came (spec/compute.md). */
  readonly hash: string;
}

async function stream(body: JsonObject = {}): Promise<Streamed> {
  const response = await routed.post(MESSAGES, { ...head, stream: true, ...body });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const events = [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, event = '', text = '']) => ({
    event,
    text,
    data: JSON.parse(text) as JsonObject,
  }));
  const { svc, ...last } = events.at(-1)?.data ?? {};
  const covered = [...events.slice(0, -1).map((one) => one.text), canonicalize(last)];
  const hash = `sha256:${sha256Hex(utf8(covered.map((one) => `${one}\n`).join('')))}`;
  return { response, events, svc: svc as unknown as Svc, hash };
}

const deltas = (events: readonly Event[]): string =>
  events.map(({ data }) => (data['delta'] as { text?: string } | undefined)?.text ?? '').join('');

it.each([
  [{ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }, false],
  [{}, true],
])(
  'is billed by the count of a provider that shortens the prompt, if %j asks for it',
  async (asked, ours) => {
    const content = 'The ferry leaves at nine and the harbour is quiet. '.repeat(2_000);
    routed.upstream.play({ usage: { prompt: 3_000, completion: 8 } });
    const { receipt } = svcOf(await ask({ model: CLAUDE, messages: [{ role: 'user', content }], ...asked }));
    expect(receipt.call.usage_estimated).toBe(ours);
    expect(Number(receipt.call.prompt_tokens) > 20_000).toBe(ours);
  },
);

it('bills what the tools of an MCP server, which run at Anthropic, brought into the prompt', async () => {
  const servers = [{ type: 'url', name: 'a', url: 'https://example.org' }];
  routed.upstream.play({ usage: { prompt: 100_000, completion: 8 } });
  const { receipt, billing } = svcOf(await ask({ model: CLAUDE, mcp_servers: servers }));
  expect(receipt.call).toMatchObject({ prompt_tokens: 100_000, usage_estimated: false });
  // 1 USDC for 1,000,000 tokens of the prompt.
  expect(Number(billing.charge.nano)).toBeGreaterThan(100_000_000);
  expect((await ask({ mcp_servers: [] })).status).toBe(200);
  expect(routed.upstream.requests.at(-1)?.body).not.toHaveProperty('mcp_servers');
});

const bash = { type: 'bash_20250124', name: 'bash' };
const editor = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' };
const screen = { type: 'computer_20250124', name: 'computer', display_width_px: 800, display_height_px: 600 };
const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 1 };

/** What Anthropic counts of a short prompt with these tools, and of what it reads while they run: more than the request says. */
it.each<[string, number, JsonObject]>([
  ['a tool of the caller’s own', 530, { tools: [tool] }],
  [
    'tools that Anthropic defines and the caller runs',
    346 + 245 + 700 + 735 + 499,
    { tools: [bash, editor, screen] },
  ],
  ['a search that is read again and again', 9 * 200_000, { tools: [search] }],
  ['a search for tools', 3 * 200_000, { tools: [{ type: 'tool_search_tool_regex_20251119', name: 'find' }] }],
  [
    'the tools of an MCP server',
    9 * 200_000,
    { mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.org' }] },
  ],
])('reserves all that %s can cost', async (_, prompt, body) => {
  routed.upstream.play({ pieces: ['It.'], usage: { prompt, completion: 1, written: prompt } });
  const reply = await ask({ model: CLAUDE, max_tokens: 1, svc: { explain: true }, ...body });
  expect(reply.status, reply.text).toBe(200);
  const { receipt, billing } = svcOf(reply);
  expect(receipt.call).toMatchObject({ prompt_tokens: prompt, usage_estimated: false });
  expect(billing.charge).toEqual(billing['provider_cost']);
  // 1.25 USDC for 1,000,000 tokens that are written to the cache.
  expect(BigInt(billing.charge.nano)).toBeGreaterThanOrEqual(BigInt(prompt) * 1_250n);
});

it.each([MODEL, CLAUDE])(
  'refuses another model that advises at prices of its own, with %s',
  async (model) => {
    const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-4-6' };
    const reply = await ask({ model, tools: [tool, advisor] });
    expect(reply.json).toMatchObject({ status: 400, code: 'invalid_request', field: 'tools[1].type' });
    expect(routed.upstream.requests).toHaveLength(0);
  },
);

it.each([MODEL, CLAUDE])(
  'refuses a thread, whose turns it would neither know nor bill, with %s',
  async (model) => {
    const thread = { type: 'continue', previous_message_id: 'msg_of_another' };
    const reply = await ask({ model, thread });
    expect(reply.json).toMatchObject({
      status: 400,
      code: 'state_not_kept',
      field: 'thread',
      error: {
        type: 'invalid_request_error',
        details: { error_code: 'thread_unsupported_request', field: 'thread' },
      },
    });
    expect(routed.upstream.requests).toHaveLength(0);
    expect((await ask({ model, thread: null })).status).toBe(200);
  },
);

it('gives a file without a title a name, which OpenAI requires', async () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'aGk=' };
  const content = [
    { type: 'document', source },
    { type: 'document', source, title: 'a.pdf' },
  ];
  const reply = await ask({ messages: [{ role: 'user', content }] });
  expect(reply.status, reply.text).toBe(200);
  const file = { file_data: 'data:application/pdf;base64,aGk=' };
  expect(routed.upstream.requests[0]?.body['messages']).toMatchObject([
    {
      content: [
        { type: 'file', file: { ...file, filename: 'document' } },
        { type: 'file', file: { ...file, filename: 'a.pdf' } },
      ],
    },
  ]);
});

describe.each(PATHS)('%s', (path) => {
  it('answers in its own form, and is billed and receipted as chat is', async () => {
    const body = { system: 'Be brief.', temperature: 0.5, stop_sequences: ['END'], svc: { session: 's' } };
    const reply = await ask(body, {}, `${path}?beta=true`);
    expect(reply.status, reply.text).toBe(200);
    const { receipt, billing } = svcOf(reply);
    const { svc: _svc, ...answer } = reply.json;
    expect(answer).toMatchObject({
      id: `msg_${receipt.receipt_id}`,
      type: 'message',
      role: 'assistant',
      model: MODEL,
      content: [{ type: 'text', text: said }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 8,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        output_tokens: 8,
      },
    });
    expect(billing.charge.nano).toBe('6300');
    expect(receipt).toMatchObject({
      request: { hash: requestHash({ ...head, ...body }) },
      response: { hash: answerHash(reply) },
    });
    expect(reply.headers.get('x-receipt-id')).toBe(receipt.receipt_id);
    expect(reply.headers.get('request-id')).toBe(receipt.receipt_id);
    expect(routed.upstream.requests[0]?.body).toEqual({
      model: 'gpt-4o-mini',
      messages: [{ role: 'system', content: 'Be brief.' }, ...head.messages],
      max_completion_tokens: 100,
      temperature: 0.5,
      stop: ['END'],
    });
    await routed.expectBalanced();
  });
});

it('streams its own events, of which the last one carries svc', async () => {
  const { response, events, svc, hash } = await stream();
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(events.map(({ event }) => event)).toEqual([
    'message_start',
    'content_block_start',
    ...defaultPieces.map(() => 'content_block_delta'),
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  for (const { event, data } of events) expect(data['type']).toBe(event);
  expect(deltas(events)).toBe(said);
  expect(events.at(-2)?.data).toMatchObject({
    delta: { stop_reason: 'end_turn' },
    usage: { input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 8 },
  });
  expect(svc.receipt).toMatchObject({
    receipt_id: response.headers.get('x-receipt-id'),
    response: { hash },
    call: { stream: true, complete: true, completion_tokens: 8 },
  });
  await routed.expectBalanced();
});

it('takes a tool’s result back', async () => {
  routed.upstream.play(calls, {});
  const tools = [tool];
  const asked = await ask({ tools });
  expect(asked.json).toMatchObject({
    stop_reason: 'tool_use',
    content: [{ type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Zürich' } }],
  });
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'rain', is_error: true };
  const turns = [
    { role: 'assistant', content: asked.json['content'] ?? [] },
    { role: 'user', content: [result] },
  ];
  expect((await ask({ tools, messages: [...head.messages, ...turns] })).status).toBe(200);
  expect(routed.upstream.requests[1]?.body['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 't1', function: { arguments: '{"city":"Zürich"}' } }] },
    { role: 'tool', tool_call_id: 't1', content: 'rain' },
  ]);
});

it('streams a tool call', async () => {
  routed.upstream.play(calls);
  const { events } = await stream({ tools: [tool] });
  expect(events.map(({ data }) => data['content_block'] ?? data['delta']).filter(Boolean)).toMatchObject([
    { type: 'tool_use', id: 't1', name: 'weather', input: {} },
    { type: 'input_json_delta', partial_json: '{"ci' },
    { type: 'input_json_delta', partial_json: 'ty":"Zürich"}' },
    { stop_reason: 'tool_use' },
  ]);
});

it('is answered once under an Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'message-1' };
  const first = await ask({}, headers);
  expect((await ask({}, headers)).text).toBe(first.text);
  expect(routed.upstream.requests).toHaveLength(1);
});

it('sends a provider of another API no member that it would refuse', async () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
  const content = [
    { type: 'text', text: 'rain' },
    { type: 'image', source, ...mark },
  ];
  const reply = await ask({
    system: [{ type: 'text', text: 'Be brief.', ...mark }],
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's' }) },
    tools: [{ ...tool, ...mark, eager_input_streaming: true }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Say it.', citations: null, ...mark }] },
      { role: 'system', content: 'News.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'tool_use', id: 't1', name: 'weather', input: {}, ...mark },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 't1', content, is_error: false, ...mark }],
      },
    ],
  });
  expect(reply.status, reply.text).toBe(200);
  expect(routed.upstream.requests[0]?.body).toEqual({
    model: 'gpt-4o-mini',
    max_completion_tokens: 100,
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Say it.' }] },
      { role: 'system', content: 'News.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 't1', content: 'rain' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of the tool call t1:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
  });
});

describe('a provider that speaks Messages', () => {
  const agent = {
    ...head,
    model: CLAUDE,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    tools: [tool, { type: 'web_search_20250305', name: 'web_search' }],
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    messages: [
      ...head.messages,
      { role: 'system', content: 'News.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'text', text: 'So.', citations: null },
        ],
      },
      { role: 'user', content: 'And?' },
    ],
    of_tomorrow: { a: [1.0] },
  };
  const usage = { prompt: 40, completion: 8, cached: 4, written: 6 };
  const script: Script = { thinking: 'Hm.', usage };

  it('is sent what came, and its answer passes as it is', async () => {
    routed.upstream.play(script);
    const betas = { 'anthropic-beta': 'context-management-2025-06-27,effort-2025-11-24' };
    const reply = await ask({ ...agent, svc: { session: 'agent' } }, betas);
    expect(reply.status, reply.text).toBe(200);
    const [request] = routed.upstream.requests;
    expect(request?.body).toEqual({ ...agent, model: 'claude-haiku-4-5' });
    expect(request?.headers).toMatchObject({ ...betas, 'anthropic-version': '2023-06-01' });
    const { svc: _svc, ...answer } = reply.json;
    expect(answer).toEqual({ ...anthropicWire.complete(script, request!), model: CLAUDE });
    const { receipt } = svcOf(reply);
    expect(receipt.response.hash).toBe(answerHash(reply));
    expect(receipt.call).toMatchObject({ prompt_tokens: 40, cached_tokens: 4, cache_write_tokens: 6 });
  });

  it('streams its own events, with svc in the last one', async () => {
    routed.upstream.play(script);
    const { events, svc, hash } = await stream(agent);
    const [request] = routed.upstream.requests;
    const theirs = anthropicWire.events(script, request!).join('');
    const ours = events.map(({ event, data: { svc: _svc, ...data } }) => ({ event, data }));
    const sent = ours.map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    expect(sent.join('')).toBe(theirs.replace('"model":"claude-haiku-4-5"', `"model":"${CLAUDE}"`));
    expect(svc.receipt).toMatchObject({ response: { hash }, call: { complete: true, prompt_tokens: 40 } });
  });

  it('is sent compressed texts in their places', async () => {
    const rows = Array.from({ length: 40 }, (_, id) => ({ id, name: `row ${id}`, state: 'ready' }));
    const result = { type: 'tool_result', tool_use_id: 't1', content: JSON.stringify(rows, null, 4) };
    const messages = [
      ...head.messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'weather', input: {} }] },
      { role: 'user', content: [result, { type: 'text', text: 'So?' }] },
    ];
    const reply = await ask({ model: CLAUDE, messages, tools: [tool] });
    expect(svcOf(reply).receipt.call['tokens_after']).toBeLessThan(
      Number(svcOf(reply).receipt.call['tokens_before']),
    );
    const sent = JSON.stringify(routed.upstream.requests[0]?.body['messages']);
    expect(sent).toContain(JSON.stringify({ type: 'text', text: 'So?' }));
    expect(sent.length).toBeLessThan(result.content.length / 2);
  });

  it('is not sent what another model thought', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'So.' },
    ];
    const messages = [...head.messages, { role: 'assistant', content }, { role: 'user', content: 'And?' }];
    expect((await ask({ model: CLAUDE, messages })).status).toBe(200);
    expect(routed.upstream.requests[0]?.body['messages']).toEqual([
      head.messages[0],
      { role: 'assistant', content: [{ type: 'text', text: 'So.' }] },
      { role: 'user', content: 'And?' },
    ]);
  });

  it('is the only one for what only it can do', async () => {
    const { of_tomorrow: _unknown, ...known } = agent;
    const reply = await ask({ ...known, model: 'auto' });
    expect(svcOf(reply).served.model).toMatch(/^anthropic\//);
    const refused = await ask({ ...known, model: MODEL });
    expectError(refused, [400, 'invalid_request_error', 'invalid_request']);
    expect(refused.json['field']).toBe('tools[1].type');
    expect(routed.upstream.requests).toHaveLength(1);
  });

  it('gives JSON that fits a schema', async () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    const config = { output_config: { format: { type: 'json_schema', schema } } };
    expect((await ask({ ...config, model: CLAUDE })).status).toBe(200);
    expect(routed.upstream.requests[0]?.body).toMatchObject(config);
    await ask(config);
    expect(routed.upstream.requests[1]?.body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { schema },
    });
  });
});

/** What Anthropic's clients make an exception of. */
function expectError({ status, json, headers }: Reply, expected: readonly [number, string, string]): void {
  const [code] = expected.slice(-1);
  expect([status, (json['error'] as JsonObject | undefined)?.['type'], json['code']]).toEqual(expected);
  expect(json).toMatchObject({
    type: 'error',
    error: { message: expect.any(String), details: { error_code: code } },
    request_id: headers.get('x-request-id'),
    title: expect.any(String),
    status,
  });
}

describe('errors in the form of Anthropic’s API', () => {
  it.each<[string, JsonObject | string, readonly [number, string, string]]>([
    ['no messages', { messages: [] }, [400, 'invalid_request_error', 'invalid_request']],
    ['no JSON', '{', [400, 'invalid_request_error', 'json_syntax']],
    ['a model that is nowhere', { model: 'claude-99' }, [404, 'not_found_error', 'model_not_found']],
  ])('%s', async (_, body, expected) => {
    const sent = typeof body === 'string' ? body : { ...head, ...body };
    expectError(await toReply(await routed.post(MESSAGES, sent)), expected);
  });

  it('a key that is none, in either header', async () => {
    for (const headers of [{ 'x-api-key': 'k_pro_none' }, { authorization: 'Bearer k_pro_none' }])
      expectError(await ask({}, headers), [401, 'authentication_error', 'api_key_invalid']);
  });

  it('a path that is none', async () => {
    const reply = await toReply(await fetch(`${routed.url}/v1/compute/v1/complete`));
    expectError(reply, [404, 'not_found_error', 'not_found']);
  });

  it('a provider that refuses the request', async () => {
    routed.upstream.play({ fault: { kind: 'status', status: 400, message: 'No such thing.' } });
    const reply = await ask();
    expectError(reply, [400, 'invalid_request_error', 'provider_refused']);
    expect(reply.json['error']).toMatchObject({ message: 'No such thing.' });
  });
});

it('the key of Anthropic’s clients pays', async () => {
  const { authorization } = await apiKey(routed.service, 'enterprise');
  const reply = await ask(
    { model: 'local/extract-1' },
    { 'x-api-key': authorization.slice('Bearer '.length) },
  );
  expect(reply.status, reply.text).toBe(200);
  expect(svcOf(reply).billing['account']).toBe('api_key');
});

describe('counting tokens', () => {
  /** A service that has the built-in models alone. */
  let local: TestService;
  beforeAll(async () => {
    local = await startTestService();
  });
  afterAll(() => local.close());

  const count = async (body: JsonObject): Promise<Reply> =>
    toReply(await routed.post(`${MESSAGES}/count_tokens?beta=true`, body));

  it.each(PATHS)('%s/count_tokens', async (path) => {
    const body = { model: 'auto', messages: head.messages };
    const reply = await toReply(await routed.post(`${path}/count_tokens`, body));
    expect([reply.status, reply.json]).toEqual([200, { input_tokens: expect.any(Number) }]);
  });

  it('counts system, tools and results, and calls no model', async () => {
    const short = await count({ model: CLAUDE, messages: head.messages });
    const long = await count({
      model: 'claude-haiku-4-5',
      system: [{ type: 'text', text: 'Be brief. '.repeat(50), cache_control: { type: 'ephemeral' } }],
      tools: [{ ...tool, description: 'The weather. '.repeat(50) }],
      thinking: { type: 'adaptive' },
      messages: [
        ...head.messages,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', content: 'It rains. '.repeat(50) }],
        },
      ],
    });
    const tokens = ({ json }: Reply): number => Number(json['input_tokens']);
    expect(tokens(short)).toBeLessThan(30);
    expect(tokens(long) - tokens(short)).toBeGreaterThan(400);
    expect(routed.upstream.requests).toHaveLength(0);
  });

  it.each([{ model: 'auto' }, {}])(
    'counts as an estimate does where the service chooses the model: %j',
    async (named) => {
      const { messages } = head;
      for (const service of [routed.service, local]) {
        const { json } = await service.post('/v1/compute/estimate', { ...named, messages });
        const { prompt } = json['tokens'] as JsonObject;
        const counted = await service.post(`${MESSAGES}/count_tokens`, { ...named, messages });
        expect(counted.json).toEqual({ input_tokens: prompt });
      }
    },
  );

  it('counts a prompt that no model has room for', async () => {
    const content = 'word '.repeat(40_000);
    const { json } = await local.post(`${MESSAGES}/count_tokens`, { messages: [{ role: 'user', content }] });
    expect(json['input_tokens']).toBeGreaterThan(40_000);
  });

  it('of a model that is nowhere is refused', async () => {
    const reply = await count({ model: 'claude-99', messages: head.messages });
    expectError(reply, [404, 'not_found_error', 'model_not_found']);
  });
});

describe('models in the form of Anthropic’s API', () => {
  const read = async (path: string): Promise<Reply> =>
    toReply(await fetch(`${routed.url}/v1/compute/v1/models${path}`));
  const lastOf = ({ json }: Reply): string => json['last_id'] as string;
  const ids = ({ json }: Reply): unknown[] => (json['data'] as JsonObject[]).map(({ id }) => id);

  it('come in pages, forwards and backwards', async () => {
    const all = await read('?limit=1000');
    expect(all.json).toMatchObject({ has_more: false, first_id: ids(all)[0], last_id: ids(all).at(-1) });
    expect(ids(all)).toContain(CLAUDE);
    expect(ids(all)).not.toContain('openai/text-embedding-3-small');
    const first = await read('?limit=2');
    expect([ids(first), first.json['has_more']]).toEqual([ids(all).slice(0, 2), true]);
    const second = await read(`?limit=2&after_id=${lastOf(first)}`);
    expect(ids(second)).toEqual(ids(all).slice(2, 4));
    const back = await read(`?limit=2&before_id=${lastOf(second)}`);
    expect([ids(back), back.json['has_more']]).toEqual([ids(all).slice(1, 3), true]);
    const end = await read(`?after_id=${lastOf(all)}`);
    expect(end.json).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  it('are found one by one', async () => {
    expect((await read(`/${CLAUDE}`)).json).toMatchObject({
      type: 'model',
      id: CLAUDE,
      display_name: CLAUDE,
      created_at: '1970-01-01T00:00:00Z',
    });
    expectError(await read('/claude-99'), [404, 'not_found_error', 'model_not_found']);
    expectError(await read('?after_id=claude-99'), [400, 'invalid_request_error', 'invalid_request']);
    expectError(await read('?limit=0'), [400, 'invalid_request_error', 'invalid_request']);
  });
});

it('answers the probes of clients', async () => {
  for (const method of ['HEAD', 'GET'])
    expect((await fetch(`${routed.url}/v1/compute`, { method })).status).toBe(200);
});

/** Breakers are the process's, so each of these tests has a service of its own. */
describe('faults', () => {
  let shared: Routed;
  beforeEach(async () => {
    shared = routed;
    routed = await startRouted();
  });
  afterEach(async () => {
    await routed.close();
    routed = shared;
  });

  it('a provider that limits calls, with its Retry-After', async () => {
    routed.upstream.play({ fault: { kind: 'status', status: 429, retryAfter: '3600' } });
    const reply = await ask();
    expectError(reply, [429, 'rate_limit_error', 'provider_rate_limited']);
    expect(reply.headers.get('retry-after')).toBe('3600');
  });

  it.each([MODEL, CLAUDE])('a provider that is overloaded: %s', async (model) => {
    routed.upstream.always({ fault: { kind: 'status', status: 529 } });
    expectError(await ask({ model }), [502, 'api_error', 'provider_failed']);
  });

  const breaks: readonly (readonly [string, Script])[] = [
    ['is cut', { fault: { kind: 'cut', after: 5 } }],
    ['says so', { fault: { kind: 'error_event', after: 5 } }],
    ['is garbage', { fault: { kind: 'garbage', after: 5 } }],
    ['ends early', { fault: { kind: 'short', after: 5 } }],
  ];

  it.each(breaks.flatMap(([name, script]) => [MODEL, CLAUDE].map((model) => [model, name, script] as const)))(
    'a stream of %s %s, and what came is billed',
    async (model, _, script) => {
      routed.upstream.play(script);
      const { events, svc, hash } = await stream({ model });
      expect(events.at(-1)?.event).toBe('error');
      expect(events.at(-1)?.data).toMatchObject({ type: 'error', error: { message: expect.any(String) } });
      expect(deltas(events).length).toBeGreaterThan(0);
      expect(svc.receipt).toMatchObject({ response: { hash }, call: { complete: false } });
      await routed.expectBalanced();
    },
  );
});
