import { afterEach, describe, expect, it } from 'vitest';
import { CHAT, MODEL, messages, type Routed, startRouted, streamHash, svcOf } from './compute.ts';
import { callTool, connectMcp } from './mcp-client.ts';
import { toReply } from './service.ts';
import type { Script } from './upstream.ts';

let routed: Routed;
afterEach(() => routed.close());

const AUTO = { model: 'auto', messages };
const EMBEDDINGS = '/v1/compute/embeddings';
const EMBEDDING_MODEL = 'openai/text-embedding-3-small';
/** The breaker is told to rest at the first call, for a time that only the policy bounds. */
const RATE_LIMITED: Script = { fault: { kind: 'status', status: 429, retryAfter: '3600' } };
const GONE: Script = { fault: { kind: 'status', status: 404, message: 'The model does not exist' } };

/** Calls until the router finds nobody left to ask. */
async function exhaust(path: string, body: object): Promise<void> {
  for (let call = 0; call < 20; call += 1) if ((await routed.post(path, body)).status === 503) return;
  throw new Error('The router finds models to ask without end.');
}

/** The model that auto would call. */
async function chosen(): Promise<string> {
  const reply = await routed.post('/v1/compute/estimate', AUTO);
  return ((await reply.json()) as { model: string }).model;
}

function expectSecondsLeft(value: string | null, most: number): void {
  expect(value).toMatch(/^\d+$/);
  expect(Number(value)).toBeGreaterThan(0);
  expect(Number(value)).toBeLessThanOrEqual(most);
}

describe('the built-in models', () => {
  it.each([0, 1, 5, 10])('are never chosen at cost_quality %d beside others', async (cost_quality) => {
    routed = await startRouted({ explain: true });
    const reply = await routed.chat({ ...AUTO, cost_quality });
    expect(svcOf(reply).served.model).not.toMatch(/^local\//);
    const { outcome } = svcOf(reply).routing as { outcome: { scores: unknown[]; fallbacks: string[] } };
    expect(outcome.fallbacks.join()).not.toContain('local/');
    expect(outcome.scores).toContainEqual(
      expect.objectContaining({ model: 'local/extract-1', excluded: 'built_in' }),
    );
    const estimate = await routed.post('/v1/compute/estimate', { ...AUTO, cost_quality });
    expect((await estimate.json()) as unknown).not.toMatchObject({ model: 'local/extract-1' });
  });

  it('answer where nothing else is configured', async () => {
    routed = await startRouted({
      env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' },
    });
    expect(svcOf(await routed.chat(AUTO)).served.model).toBe('local/extract-1');
    const embedded = await routed.post(EMBEDDINGS, { input: 'a' });
    expect(await embedded.json()).toMatchObject({ svc: { served: { model: 'local/embed-512' } } });
  });

  it.each([
    ['as the model', { model: 'local/extract-1' }],
    ['as the only provider', { model: 'auto', provider: { only: ['local'] } }],
    ['in the order of providers', { model: 'auto', provider: { order: ['local/extract-1'] } }],
  ])('answer where they are named: %s', async (_, body) => {
    routed = await startRouted({ explain: true });
    expect(svcOf(await routed.chat(body)).served.model).toBe('local/extract-1');
  });

  it('do not embed beside a configured model', async () => {
    routed = await startRouted({ explain: true });
    const reply = await routed.post(EMBEDDINGS, { input: 'a' });
    expect(await reply.json()).toMatchObject({ svc: { served: { model: EMBEDDING_MODEL } } });
  });

  it('do not answer when every other model rests: 503 with Retry-After, everywhere', async () => {
    routed = await startRouted({ explain: true });
    routed.upstream.always(RATE_LIMITED);
    await exhaust(CHAT, AUTO);
    await exhaust(EMBEDDINGS, { input: 'a' });
    const asked = routed.upstream.requests.length;
    for (const [path, body] of [
      ['/v1/compute/chat/completions', AUTO],
      ['/v1/compute/chat/completions', { ...AUTO, stream: true }],
      ['/v1/compute/estimate', AUTO],
      [EMBEDDINGS, { input: 'a' }],
    ] as const) {
      const reply = await routed.post(path, body);
      expect(reply.status).toBe(503);
      expect(await reply.json()).toMatchObject({ code: 'no_model_available' });
      expectSecondsLeft(reply.headers.get('retry-after'), 60);
    }
    const client = await connectMcp(routed.url, '2026-07-28');
    const tool = await callTool(client, 'chat', AUTO);
    await client.close();
    expect(tool).toMatchObject({ isError: true, json: { code: 'no_model_available', status: 503 } });
    expectSecondsLeft(tool.headers['retry-after'] ?? null, 60);
    expect(routed.upstream.requests).toHaveLength(asked);
    await routed.expectBalanced();
  });
});

describe('a model of which its provider has no calls left', () => {
  const reset = {
    'x-ratelimit-reset-requests': '1m0s',
    'anthropic-ratelimit-requests-reset': '2999-01-01T00:00:00Z',
  };
  const none = { 'x-ratelimit-remaining-requests': '0', 'anthropic-ratelimit-requests-remaining': '0' };

  it('is passed over by auto before it answers 429, and asked where it is named', async () => {
    routed = await startRouted({ explain: true });
    const first = await chosen();
    routed.upstream.always(({ body }) =>
      first.endsWith(`/${body['model'] as string}`) ? { headers: { ...none, ...reset } } : {},
    );
    // Each process reads it in its own answers.
    for (const _ of routed.service.processes) expect(svcOf(await routed.chat(AUTO)).served.model).toBe(first);
    const second = svcOf(await routed.chat(AUTO));
    expect(second.served.model).not.toBe(first);
    expect(second.served.model).not.toMatch(/^local\//);
    expect(second.served.failed_tries).toEqual([]);
    expect(second.routing).toMatchObject({
      outcome: {
        scores: expect.arrayContaining([
          expect.objectContaining({ model: first, excluded: 'rate_limit' }),
        ]) as unknown,
      },
    });
    expect(svcOf(await routed.chat({ model: first })).served.model).toBe(first);
  });

  it('is asked all the same where no other is left', async () => {
    routed = await startRouted({ explain: true });
    routed.upstream.always({ headers: { ...none, ...reset } });
    const served: string[] = [];
    for (let call = 0; call < 30; call += 1) {
      const { status, json, text } = await routed.chat(AUTO);
      expect(status, text).toBe(200);
      served.push(json['model'] as string);
    }
    expect(new Set(served).size).toBeLessThan(30);
    expect(served.some((model) => model.startsWith('local/'))).toBe(false);
  });
});

describe('an answer', () => {
  const answersOf = async (model: string, path: string) => {
    const reply = await routed.post(path, path === EMBEDDINGS ? { model, input: 'a' } : { model, messages });
    return (await reply.json()) as { model: string; svc: { receipt: { call: { model: string } } } };
  };

  it.each([
    ['local/extract-1', '/v1/compute/chat/completions'],
    ['local/embed-512', EMBEDDINGS],
    [MODEL, '/v1/compute/chat/completions'],
    ['gpt-4o-mini', '/v1/compute/chat/completions'],
    ['anthropic/claude-sonnet-4-5', '/v1/compute/chat/completions'],
    [EMBEDDING_MODEL, EMBEDDINGS],
  ])('names the model as the catalogue does, and so does its receipt: %s', async (asked, path) => {
    routed = await startRouted({ explain: true });
    const id = routed.service.services.compute.pipeline.catalogue.find(asked)?.id;
    const { model, svc } = await answersOf(asked, path);
    expect([model, svc.receipt.call.model]).toEqual([id, id]);
    if (path === EMBEDDINGS) return;
    const { payloads, svc: streamed } = await routed.stream({ model: asked });
    const chunks = payloads.filter((payload) => payload !== '[DONE]');
    expect(new Set(chunks.map((payload) => (JSON.parse(payload) as { model: string }).model))).toEqual(
      new Set([id]),
    );
    expect(streamed?.receipt.response.hash).toBe(streamHash(payloads));
    expect(streamed?.receipt.call['model']).toBe(id);
  });
});

describe('a model that its provider has no more', () => {
  const gone = (name: string) => {
    routed.upstream.always(({ body }) => (body['model'] === name ? GONE : {}));
  };

  it.each([404, 410])('is passed over by auto after %d, for long', async (status) => {
    routed = await startRouted({ explain: true });
    const first = await chosen();
    const name = first.slice(first.indexOf('/') + 1);
    routed.upstream.always(({ body }) =>
      body['model'] === name ? { fault: { kind: 'status', status } } : {},
    );
    const asked = routed.upstream.requests.length;
    const second = await routed.chat(AUTO);
    expect(second.status, second.text).toBe(200);
    expect(svcOf(second).served.failed_tries).toEqual([{ model: first, failed: 'gone', status }]);
    expect(svcOf(second).served.model).not.toMatch(/^local\//);
    await routed.rests(first);
    const third = svcOf(await routed.chat(AUTO));
    expect(third.served.failed_tries).toEqual([]);
    // Not tried again: once by the second call, and one answer each.
    expect(routed.upstream.requests).toHaveLength(asked + 3);
    await routed.expectBalanced();
  });

  it('is 404 model_gone where it is named, at the first call and after', async () => {
    routed = await startRouted({ explain: true });
    gone('gpt-4o-mini');
    for (const stream of [false, true, false]) {
      const reply = await routed.chat({ model: MODEL, stream });
      expect(reply.status, reply.text).toBe(404);
      expect(reply.json).toMatchObject({ code: 'model_gone', field: 'model' });
      expect(reply.json['detail']).toContain(MODEL);
      expect(reply.headers.get('retry-after')).toBeNull();
      await routed.rests(MODEL);
    }
    expect(routed.upstream.requests).toHaveLength(1);
    await routed.expectBalanced();
  });

  it('is 404 model_gone for embeddings too', async () => {
    routed = await startRouted({ explain: true });
    routed.upstream.always(GONE);
    const wanted = { model: EMBEDDING_MODEL, input: 'a' };
    for (let call = 0; call < 2; call += 1) {
      const reply = await routed.post(EMBEDDINGS, wanted);
      expect(await reply.json()).toMatchObject({ status: 404, code: 'model_gone' });
      await routed.rests(EMBEDDING_MODEL);
    }
    expect(routed.upstream.requests).toHaveLength(1);
  });

  it('leaves 503 with the soonest end of a rest when all are gone', async () => {
    routed = await startRouted({ explain: true, env: { TALLY_MODEL_GONE_REST_MS: '900000' } });
    routed.upstream.always(GONE);
    const only = { provider: { only: ['openai/gpt-4o', MODEL] }, model: 'auto' };
    for (let call = 0; call < 2; call += 1) {
      const reply = await routed.chat(only);
      expect(reply.status, reply.text).toBe(503);
      expect(reply.json).toMatchObject({ code: 'no_model_available' });
      expectSecondsLeft(reply.headers.get('retry-after'), 900);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(800);
      for (const model of only.provider.only) await routed.rests(model);
    }
    expect(routed.upstream.requests).toHaveLength(2);
    await routed.expectBalanced();
  });

  it('is not what a caller can make of a model with a request at fault', async () => {
    routed = await startRouted({ explain: true });
    routed.upstream.play({ fault: { kind: 'status', status: 404, param: 'messages[0].file_id' } });
    expect((await routed.chat()).json).toMatchObject({ status: 400, code: 'provider_refused' });
    expect((await routed.chat()).status).toBe(200);
  });

  const CLAUDE = 'anthropic/claude-haiku-4-5';
  const ask = (content: string | object[], more: object = {}): Promise<Response> =>
    routed.post('/v1/compute/messages', {
      model: CLAUDE,
      max_tokens: 10,
      messages: [{ role: 'user', content }],
      ...more,
    });

  const file = { type: 'image', source: { type: 'file', file_id: 'file_model_1' } };
  it.each<[string, object[], object]>([
    ['a file', [file], {}],
    ['a file in the result of a tool', [{ type: 'tool_result', tool_use_id: 't', content: [file] }], {}],
    ['a file for a container', [{ type: 'container_upload', file_id: 'file_1' }], {}],
    ['a container', [{ type: 'text', text: 'Hi.' }], { container: 'container_1' }],
    ['a skill', [{ type: 'text', text: 'Hi.' }], { container: { skills: [{ skill_id: 'model' }] } }],
  ])(
    'is not what a caller can make of a model of Anthropic’s with %s that is not there',
    async (_, content, more) => {
      routed = await startRouted({ explain: true });
      const message = 'Not found: file_model_1, of no model.';
      for (const stream of [false, true]) {
        routed.upstream.play({ fault: { kind: 'status', status: 404, message } });
        const refused = await ask(content, { ...more, stream });
        expect(await refused.json()).toMatchObject({
          status: 400,
          code: 'provider_refused',
          detail: message,
        });
      }
      routed.upstream.play({ fault: { kind: 'error_event', after: 0, message, type: 'not_found_error' } });
      expect((await ask(content, { ...more, stream: true })).status).toBe(400);
      expect((await ask('Hi.')).status).toBe(200);
    },
  );

  // As Anthropic answered to models that do not exist, or not any more, and to a path that it does not have.
  it.each([
    'model: claude-haiku-4-5',
    'Claude Haiku 4.5 is not available. Please use Opus 4.8.',
    'Not found',
  ])('is what a 404 of Anthropic’s means, in whatever words: %s', async (message) => {
    routed = await startRouted({ explain: true });
    routed.upstream.play({ fault: { kind: 'status', status: 404, message } });
    const tool = { name: 'read', input_schema: { type: 'object', properties: { file_id: {} } } };
    const gone = await ask('Read file_id.', { tools: [tool], container: null });
    expect(await gone.json()).toMatchObject({ status: 404, code: 'model_gone', field: 'model' });
    await routed.rests(CLAUDE);
    routed.upstream.always({});
    const other = await ask('Hi.', { model: 'auto', provider: { only: ['anthropic'] } });
    expect(svcOf(await toReply(other)).served.model).not.toBe(CLAUDE);
  });

  it('has the next candidate called where Anthropic says so of the first', async () => {
    routed = await startRouted({ explain: true });
    const message = 'Claude Haiku 4.5 is not available. Please use Opus 4.8.';
    routed.upstream.play({ fault: { kind: 'status', status: 404, message } });
    const reply = await toReply(await ask('Hi.', { model: 'auto', provider: { only: ['anthropic'] } }));
    expect(reply.status, reply.text).toBe(200);
    expect(svcOf(reply).served.failed_tries).toMatchObject([{ failed: 'gone', status: 404 }]);
  });
});
