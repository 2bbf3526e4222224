import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalize, type JsonObject, sha256Hex, utf8, verifyCall } from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerHash, MODEL, type Routed, requestHash, type Svc, startRouted, svcOf } from './compute.ts';
import { withModels } from './models.ts';
import { type Reply, toReply } from './service.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import { SEALED } from './upstream-responses.ts';
import { defaultPieces } from './upstream-script.ts';

const RESPONSES = '/v1/compute/responses';
/** Its provider speaks a protocol of its own, so that every call is translated. */
const CLAUDE = 'anthropic/claude-haiku-4-5';
const said = defaultPieces.join('');
const input = 'Say it.';
const weather = { type: 'function', name: 'weather', parameters: { type: 'object' } };
const toolCalls = [{ id: 'call_1', name: 'weather', pieces: ['{"ci', 'ty":"Zürich"}'] }];

/** Its provider speaks Responses, so that calls pass as they came. */
const DIRECT = 'direct/gpt-x';

const folder = mkdtempSync(join(tmpdir(), 'tally-responses-'));
let direct: Upstream;
let routed: Routed;
beforeAll(async () => {
  direct = await startUpstream();
  const file = join(folder, 'providers.json');
  writeFileSync(file, JSON.stringify(withModels(catalogue(`${direct.url}/v1`))));
  routed = await startRouted({ env: { TALLY_CONFIG: file } });
});
afterAll(async () => {
  await routed.close();
  await direct.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  routed.upstream.requests.length = 0;
  direct.requests.length = 0;
});

function catalogue(base_url: string): JsonObject {
  return {
    providers: [{ name: 'direct', kind: 'openai', base_url, speaks: ['responses'] }],
    models: [
      {
        id: DIRECT,
        context: 128_000,
        max_output: 16_384,
        abilities: ['tools', 'vision', 'json', 'stream'],
        price: {
          input: '0.15',
          output: '0.60',
          tariffs: [{ service_tier: 'priority', input: '3', output: '12' }],
        },
        prior: { general: 0.5 },
      },
    ],
  };
}

const respond = async (body: JsonObject = {}, headers: Record<string, string> = {}): Promise<Reply> =>
  toReply(await routed.post(RESPONSES, { model: CLAUDE, input, ...body }, headers));

interface Event {
  readonly event: string;
  readonly payload: string;
  readonly data: JsonObject;
}

async function stream(body: JsonObject = {}) {
  const sent = { model: CLAUDE, input, stream: true, ...body };
  const response = await routed.post(RESPONSES, sent);
  const text = await response.text();
  const events = text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event): Event => {
      const [, name = '', payload = ''] = /^event: (\S+)\ndata: (.*)$/s.exec(event) ?? [];
      return { event: name, payload, data: JSON.parse(payload) as JsonObject };
    });
  const { svc, ...last } = (events.at(-1)?.data ?? {}) as JsonObject & { svc: Svc };
  return { response, events, svc, last, sent };
}

/** As spec/compute.md defines it. */
function eventsHash(events: readonly Event[]): string {
  const covered = events.map(({ payload, data: { svc, ...data } }) =>
    svc === undefined ? payload : canonicalize(data),
  );
  return `sha256:${sha256Hex(utf8(covered.map((text) => `${text}\n`).join('')))}`;
}

describe('in one piece', () => {
  it('answers in its own form, and is billed and receipted as chat is', async () => {
    const reply = await respond({ instructions: 'Be brief.', max_output_tokens: 100, svc: { session: 's' } });
    expect(reply.status, reply.text).toBe(200);
    const { receipt, billing } = svcOf(reply);
    expect(reply.json).toMatchObject({
      id: `resp_${receipt.receipt_id}`,
      object: 'response',
      status: 'completed',
      model: CLAUDE,
      store: false,
      instructions: 'Be brief.',
      max_output_tokens: 100,
      output: [
        {
          id: `msg_${receipt.receipt_id}_0`,
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: said, annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 12,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 8,
        total_tokens: 20,
      },
    });
    expect(receipt).toMatchObject({
      request: {
        hash: requestHash({
          ...sentBody,
          instructions: 'Be brief.',
          max_output_tokens: 100,
          svc: { session: 's' },
        }),
      },
      response: { hash: answerHash(reply) },
    });
    expect(billing.charge.nano).not.toBe('0');
    expect(routed.upstream.requests[0]?.body).toMatchObject({
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: input }],
    });
    await routed.expectBalanced();
  });

  it('calls tools, and goes on with their results', async () => {
    routed.upstream.play({ toolCalls }, { pieces: ['It is 9 °C.'] });
    const first = await respond({ tools: [weather] });
    const output = first.json['output'] as JsonObject[];
    expect(output).toMatchObject([
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' },
    ]);
    const result = { type: 'function_call_output', call_id: 'call_1', output: '{"celsius":9}' };
    const second = await respond({
      input: [{ role: 'user', content: input }, ...output, result],
      tools: [weather],
    });
    expect(second.json['output']).toMatchObject([{ content: [{ text: 'It is 9 °C.' }] }]);
    expect(routed.upstream.requests.at(-1)?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', input: { city: 'Zürich' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
    ]);
  });

  it('is incomplete where the limit ended it', async () => {
    routed.upstream.play({ finish: 'length' });
    const { json } = await respond({ max_output_tokens: 8 });
    expect(json).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    });
  });

  it('is answered once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'response-1' };
    const first = await respond({}, headers);
    expect((await respond({}, headers)).text).toBe(first.text);
    expect(routed.upstream.requests).toHaveLength(1);
  });
});

/** An answer of Claude's with signed thinking. */
async function thought(): Promise<{ readonly output: JsonObject[] }> {
  routed.upstream.play({ thinking: 'Hm.' });
  const { json } = await respond({ reasoning: { summary: 'auto' } });
  return { output: json['output'] as JsonObject[] };
}

describe('reasoning', () => {
  it('is shown, and comes back with its signature from a client that keeps only what the API names', async () => {
    const { output } = await thought();
    expect(output).toMatchObject([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: expect.stringMatching(/^tally1\./),
      },
      { type: 'message' },
    ]);
    const [{ encrypted_content } = { encrypted_content: null }] = output;
    const reasoning = { type: 'reasoning', summary: [], encrypted_content };
    const history = [{ role: 'user', content: input }, reasoning, { role: 'assistant', content: said }];
    await respond({ input: [...history, { role: 'user', content: 'So?' }] });
    expect(routed.upstream.requests.at(-1)?.body['messages']).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'text', text: said },
        ],
      },
      { role: 'user' },
    ]);
  });

  it('is streamed before the answer', async () => {
    routed.upstream.play({ thinking: 'Hm.' });
    const { events, last } = await stream();
    const names = events.map(({ event }) => event);
    expect(names.indexOf('response.reasoning_text.delta')).toBeLessThan(
      names.indexOf('response.output_text.delta'),
    );
    expect(last).toMatchObject({
      response: { output: [{ content: [{ type: 'reasoning_text', text: 'Hm.' }] }, { type: 'message' }] },
    });
  });
});

describe('streamed', () => {
  it('sends OpenAI’s events, the last one with svc', async () => {
    const { response, events, svc, last, sent } = await stream();
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    for (const [index, { event, data }] of events.entries())
      expect(data).toMatchObject({ type: event, sequence_number: index });
    expect(events.map(({ event }) => event)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      ...defaultPieces.map(() => 'response.output_text.delta'),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(last).toMatchObject({
      response: {
        id: `resp_${response.headers.get('x-receipt-id')}`,
        output: [{ content: [{ text: said }] }],
        usage: { input_tokens: 12, output_tokens: 8 },
      },
    });
    expect(svc.receipt).toMatchObject({
      receipt_id: response.headers.get('x-receipt-id'),
      request: { hash: requestHash(sent) },
      response: { hash: eventsHash(events) },
      call: { stream: true, complete: true, completion_tokens: 8 },
    });
    await routed.expectBalanced();
  });

  it('tells tool calls piece by piece', async () => {
    routed.upstream.play({ toolCalls });
    const { events, last } = await stream({ tools: [weather] });
    const deltas = events.filter(({ event }) => event === 'response.function_call_arguments.delta');
    expect(deltas.map(({ data }) => data['delta'])).toEqual(['{"ci', 'ty":"Zürich"}']);
    expect(last).toMatchObject({
      response: { output: [{ type: 'function_call', call_id: 'call_1', arguments: '{"city":"Zürich"}' }] },
    });
  });

  it.each([
    ['cut', 'provider_failed'],
    ['garbage', 'provider_failed'],
    ['error_event', 'provider_failed'],
  ] as const)('and broken off by %s, says so, and bills what came', async (kind, code) => {
    routed.upstream.play({ fault: { kind, after: 5 } });
    const { events, svc, last } = await stream();
    expect(events.at(-2)?.data).toMatchObject({ type: 'error', code, error: { code } });
    expect(last).toMatchObject({
      type: 'response.failed',
      sequence_number: events.length - 1,
      response: { status: 'failed', error: { code: 'server_error' }, output: [{ status: 'incomplete' }] },
    });
    expect(svc.receipt).toMatchObject({
      response: { hash: eventsHash(events) },
      call: { complete: false, usage_estimated: true },
    });
    await routed.expectBalanced();
  });
});

describe('text of a provider that is no I-JSON', () => {
  const requests: [path: string, body: JsonObject][] = [
    [RESPONSES, { model: CLAUDE, input }],
    ['/v1/compute/messages', { model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: input }] }],
  ];
  it.each(requests)(
    'comes in whole characters from %s, under a receipt that verifies',
    async (path, body) => {
      routed.upstream.play({
        pieces: ['Hi \ud83d', '\ude00! \ud83d', 'Bye\ufffe\ufdd0.', '\ud83f', '\udfff'],
      });
      const request = JSON.stringify({ ...body, stream: true });
      const response = await (await routed.post(path, request)).text();
      const deltas = [
        ...response.matchAll(/^data: (.*"type":"(?:text_delta|response\.output_text\.delta)".*)$/gm),
      ];
      const said = deltas.map(([, data = '']) => JSON.parse(data)['delta'] as string | { text: string });
      expect(said.map((delta) => (typeof delta === 'string' ? delta : delta.text))).toEqual([
        'Hi ',
        '😀! ',
        '\ufffdBye\ufffd\ufffd.',
        '\ufffd',
      ]);
      expect(await verifyCall({ request, response, now: routed.service.clock() })).toMatchObject({
        valid: true,
      });
    },
  );
});

describe('with a provider that speaks Responses', () => {
  const model = DIRECT;

  it.each([
    [{ truncation: 'auto' }, false],
    [{ truncation: 'disabled' }, true],
  ])('is billed by its count of a prompt that it shortens, with %j', async (asked, ours) => {
    const long = 'The ferry leaves at nine and the harbour is quiet. '.repeat(2_000);
    direct.play({ usage: { prompt: 3_000, completion: 8 } });
    const { receipt } = svcOf(await respond({ model, input: long, ...asked }));
    expect(receipt.call.usage_estimated).toBe(ours);
    expect(Number(receipt.call.prompt_tokens) > 20_000).toBe(ours);
  });

  it('passes as it came, and is billed and receipted', async () => {
    direct.play({ thinking: 'Hm.', members: { billing: { payer: 'developer' } } });
    const reply = await respond({ model, metadata: { a: 'b' }, svc: { session: 's' }, cost_quality: 3 });
    expect(reply.status, reply.text).toBe(200);
    expect(direct.requests[0]).toMatchObject({ path: '/v1/responses' });
    expect(direct.requests[0]?.body).toEqual({
      model: 'gpt-x',
      input,
      metadata: { a: 'b' },
      store: false,
      max_output_tokens: expect.any(Number),
    });
    expect(reply.json).toMatchObject({
      id: 'resp_upstream',
      model: DIRECT,
      store: false,
      billing: { payer: 'developer' },
      output: [{ type: 'reasoning', encrypted_content: SEALED }, { content: [{ text: said }] }],
    });
    const { receipt, billing } = svcOf(reply);
    expect(receipt.response.hash).toBe(answerHash(reply));
    expect(receipt.call).toMatchObject({ prompt_tokens: 12, completion_tokens: 8, usage_estimated: false });
    expect(billing.charge.nano).not.toBe('0');
    await routed.expectBalanced();
  });

  it('is paid for in the class of service that it asks for', async () => {
    direct.play({ members: { service_tier: 'priority' } });
    const asked = { service_tier: 'priority', max_output_tokens: 8, svc: { explain: true } };
    const { billing, receipt } = svcOf(await respond({ model, ...asked }));
    expect(direct.requests[0]?.body).toMatchObject({ service_tier: 'priority' });
    expect(receipt.call).toMatchObject({ prompt_tokens: 12, completion_tokens: 8 });
    expect(billing.charge).toEqual(billing['provider_cost']);
    await routed.expectBalanced();
  });

  it('streams the provider’s events byte by byte', async () => {
    direct.play({ thinking: 'Hm.' });
    const { events, svc, last, sent } = await stream({ model });
    for (const { payload, event } of events.slice(0, -1)) {
      expect(payload).toMatch(/, "obfuscation": "x"\}$/);
      expect(payload).toContain(`"type":"${event}"`);
    }
    expect(events[0]?.data).toMatchObject({ response: { id: 'resp_upstream', model: DIRECT } });
    expect(last).toMatchObject({ type: 'response.completed', response: { model: DIRECT, store: false } });
    expect(svc.receipt).toMatchObject({
      request: { hash: requestHash(sent) },
      response: { hash: eventsHash(events) },
      call: { complete: true, completion_tokens: 8 },
    });
    await routed.expectBalanced();
  });

  it('takes what only OpenAI’s API knows', async () => {
    const members = {
      tools: [
        { type: 'web_search' },
        { type: 'custom', name: 'apply_patch' },
        { type: 'namespace', name: 'n', tools: [] },
      ],
      context_management: [{ type: 'compaction' }],
      input: [
        { type: 'compaction', encrypted_content: 'x' },
        { role: 'user', content: input },
      ],
    };
    expect((await respond({ model, ...members })).status).toBe(200);
    expect(direct.requests[0]?.body).toMatchObject(members);
  });

  it('compresses a tool’s result where it stands', async () => {
    const rows = Array.from({ length: 60 }, (_, index) => ({ id: index, name: `name ${index}`, open: true }));
    const items: JsonObject[] = [
      { role: 'user', content: input },
      { type: 'function_call', call_id: 'c', name: 'list', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [{ type: 'input_text', text: JSON.stringify(rows, null, 2) }],
      },
    ];
    expect((await respond({ model, input: items })).status).toBe(200);
    const sent = direct.requests[0]?.body['input'] as JsonObject[];
    expect(sent.slice(0, 2)).toEqual(items.slice(0, 2));
    const [{ text } = { text: '' }] = (sent[2]?.['output'] ?? []) as { text: string }[];
    expect(text).toContain('59');
    expect(text.length).toBeLessThanOrEqual(JSON.stringify(rows).length);
  });

  it('is translated if it brings reasoning of a translated answer', async () => {
    const { output } = await thought();
    const history = [{ role: 'user', content: input }, ...output, { role: 'user', content: 'So?' }];
    expect((await respond({ model, input: history })).status).toBe(200);
    expect(direct.requests[0]?.path).toBe('/v1/chat/completions');
  });

  it.each(['cut', 'short', 'garbage', 'error_event'] as const)(
    'and broken off by %s, goes on with the provider’s numbers, and bills what came',
    async (kind) => {
      direct.play({ fault: { kind, after: 6 } });
      const { events, svc, last } = await stream({ model });
      expect(events.map(({ data }) => data['sequence_number'])).toEqual([...events.keys()]);
      expect(events.at(-2)?.data).toMatchObject({ type: 'error', code: 'provider_failed' });
      expect(last).toMatchObject({
        type: 'response.failed',
        response: { id: 'resp_upstream', model: DIRECT, status: 'failed', error: { code: 'server_error' } },
      });
      expect(svc.receipt).toMatchObject({
        response: { hash: eventsHash(events) },
        call: { complete: false, usage_estimated: true },
      });
      await routed.expectBalanced();
    },
  );

  it('that fails before its first output is no answer', async () => {
    for (const _ of [1, 2, 3]) direct.play({ fault: { kind: 'error_event', after: 2 } });
    const response = await routed.post(RESPONSES, { model, input, stream: true });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'provider_failed' } });
  });
});

describe('refused', () => {
  it.each<[string, string, JsonObject]>([
    ['previous_response_id', 'state_not_kept', { previous_response_id: 'resp_1' }],
    ['conversation', 'state_not_kept', { conversation: { id: 'conv_1' } }],
    ['store', 'state_not_kept', { store: true }],
    ['background', 'state_not_kept', { background: true }],
    [
      'input[1]',
      'state_not_kept',
      {
        input: [
          { role: 'user', content: 'x' },
          { type: 'item_reference', id: 'i' },
        ],
      },
    ],
    ['tools[0].type', 'invalid_request', { tools: [{ type: 'web_search' }] }],
    ['context_management', 'invalid_request', { context_management: [{ type: 'compaction' }] }],
    ['input', 'invalid_request', { input: [] }],
    ['input[0].content', 'invalid_request', { input: [{ role: 'user' }] }],
    ['max_output_tokens', 'invalid_request', { max_output_tokens: 0 }],
  ])('%s by name, with %s', async (field, code, body) => {
    const reply = await respond(body);
    expect(reply.json, reply.text).toMatchObject({
      status: 400,
      code,
      field,
      error: { param: field, code, type: 'invalid_request_error' },
    });
    expect(routed.upstream.requests).toHaveLength(0);
  });

  it('as a provider refuses: with its status and when to come back', async () => {
    routed.upstream.play({ fault: { kind: 'status', status: 429, retryAfter: '3600' } });
    const response = await routed.post(RESPONSES, { model: MODEL, input });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('3600');
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });
});

const sentBody = { model: CLAUDE, input };
