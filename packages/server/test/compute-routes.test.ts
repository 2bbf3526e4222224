import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallers } from '../../callers/src/callers.ts';
import { replay } from '../../inference/src/router/replay.ts';
import { callerAccount } from '../../ledger/src/accounts.ts';
import { creditCaller } from '../../ledger/src/credit.ts';
import { collect } from '../../store/test/test-database.ts';
import { createApp } from '../src/app/app.ts';
import { CHAT, MODEL, messages, type Routed, startRouted, svcOf } from './compute.ts';
import { apiKey, startTestService, toReply } from './service.ts';

const DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted();
});
afterAll(() => routed.close());

describe('what is no request to a model', () => {
  const image = [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] },
  ];
  it.each<[name: string, body: JsonObject, code: string, status: number, param: string]>([
    ['an unknown model', { model: 'gpt-99' }, 'model_not_found', 404, 'model'],
    ['no messages', { messages: [] }, 'invalid_request', 400, 'messages'],
    [
      'an unknown role',
      { messages: [{ role: 'boss', content: 'x' }] },
      'invalid_request',
      400,
      'messages[0].role',
    ],
    [
      'a message without content',
      { messages: [{ role: 'user' }] },
      'invalid_request',
      400,
      'messages[0].content',
    ],
    ['a negative limit', { max_tokens: -1 }, 'invalid_request', 400, 'max_tokens'],
    ['an absurd limit', { max_completion_tokens: 1e9 }, 'invalid_request', 400, 'max_completion_tokens'],
    ['no choice', { n: 0 }, 'invalid_request', 400, 'n'],
    [
      'an image to a text model',
      { model: 'local/extract-1', messages: image },
      'invalid_request',
      400,
      'messages',
    ],
    ['an unknown preference', { provider: { host: 'evil' } }, 'invalid_request', 400, 'provider.host'],
    [
      'a price that is none',
      { provider: { max_price: { prompt: 'x' } } },
      'invalid_request',
      400,
      'provider.max_price.prompt',
    ],
    ['an embedding model', { model: 'local/embed-512' }, 'model_not_found', 404, 'model'],
  ])('refuses %s', async (_, body, code, status, param) => {
    const reply = await routed.chat(body);
    expect(reply.status, reply.text).toBe(status);
    expect(reply.json).toMatchObject({ code, status, field: param });
    expect(reply.json['error']).toEqual({
      message: reply.json['detail'],
      type: 'invalid_request_error',
      param,
      code,
    });
    expect(routed.upstream.requests).toHaveLength(0);
  });

  it('says so of one that repeats itself, which only who allows cutting has cut', async () => {
    const content = 'many words '.repeat(70_000);
    const reply = await routed.chat({ messages: [{ role: 'user', content }] });
    expect(reply.json).toMatchObject({ status: 400, code: 'context_too_long' });
    expect(reply.json['detail']).toContain('svc.');
  });

  it.each(['off', 'lossless', 'extractive'])(
    'says how long a prompt is that does not repeat itself, and how long it may be: %s',
    async (compression) => {
      const words = Array.from({ length: 50_000 }, (_, index) => `w${index * 7919}`).join(' ');
      const reply = await routed.chat({ messages: [{ role: 'user', content: words }], svc: { compression } });
      expect(reply.json).toMatchObject({
        code: 'context_too_long',
        error: { code: 'context_length_exceeded' },
      });
      expect(reply.json['detail']).toMatch(/\d{6} tokens .* 128000 tokens .*svc\./);
    },
  );

  it('refuses a DID that no receipt has room for', async () => {
    const reply = await routed.chat({}, { 'x-agent-did': `did:key:${'z'.repeat(1_100)}` });
    expect(reply.json).toMatchObject({ code: 'invalid_request', field: 'X-Agent-DID' });
  });

  it('refuses 20 MB', async () => {
    const reply = await toReply(await routed.post(CHAT, `{"messages":"${'x'.repeat(20_000_000)}"}`));
    expect(reply.json).toMatchObject({
      code: 'body_too_large',
      status: 413,
      error: { code: 'body_too_large' },
    });
  });

  it('shapes what is not there in OpenAI’s form, too', async () => {
    const reply = await routed.service.get('/v1/compute/nothing');
    expect(reply.json).toMatchObject({ code: 'not_found', error: { code: 'not_found', param: null } });
  });
});

describe('/v1/compute', () => {
  it('describes itself', async () => {
    const { json } = await routed.service.get('/v1/compute');
    expect(Object.keys(json)).toEqual([
      'service',
      'version',
      'description',
      'endpoints',
      'benchmark_note',
      'pricing',
      'routing_spread_pct',
      'member_registration',
      'network',
      'agent_onboarding',
    ]);
    expect(json).toMatchObject({
      version: '2.0.0',
      routing_spread_pct: { unregistered: 25, member: 35, member_enterprise: 40, member_scale: 50 },
    });
  });

  it('names its operator by the DID that it signs as, also where it chose its own handle', async () => {
    const unnamed = await startTestService({ env: { TALLY_HANDLE: '' } });
    const { network } = (await unnamed.get('/v1/compute')).json;
    const { did } = unnamed.services.issuer;
    await unnamed.close();
    expect(network).toMatchObject({ operator: did });
  });

  it('lists models as OpenAI does, with prices, and no key', async () => {
    const reply = await routed.service.get('/v1/compute/models');
    const data = reply.json['data'] as JsonObject[];
    expect(data.find(({ id }) => id === MODEL)).toMatchObject({
      object: 'model',
      owned_by: 'openai',
      svc: {
        context: 128_000,
        price_per_million_tokens: { input: { usdc: '0.150000000', nano: '150000000' } },
      },
    });
    expect(data.find(({ id }) => id === 'local/extract-1')).toMatchObject({
      svc: { context: 32_768, card: { description: expect.stringContaining('no language model') } },
    });
    const withCard = data.filter(({ svc }) => Object.hasOwn(svc as JsonObject, 'card'));
    expect(withCard.map(({ id }) => id)).toEqual(['local/extract-1', 'local/embed-512']);
    expect(reply.text).not.toContain('secret');
    expect(reply.text).not.toContain(routed.upstream.url);
  });

  it('estimates without a call', async () => {
    const body = { model: MODEL, messages, max_tokens: 100 };
    const { json } = await routed.service.post('/v1/compute/estimate', body);
    expect(json).toMatchObject({
      model: MODEL,
      tokens: { max_completion: 100 },
      compression: { tier: 'lossless', methods: {} },
      cashback: { expected: { nano: '0' }, percent: 25, as: 'discount' },
    });
    expect(routed.upstream.requests).toHaveLength(0);
  });

  it('embeds, and bills it', async () => {
    const body = { model: 'openai/text-embedding-3-small', input: ['a', 'b'] };
    const reply = await toReply(await routed.post('/v1/compute/embeddings', body));
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json['data']).toHaveLength(2);
    expect(svcOf(reply).billing.charge.nano).not.toBe('0');
    await routed.expectBalanced();
  });
});

describe('members', () => {
  it('are registered once, and count their paid jobs', async () => {
    const member = await routed.service.post('/v1/compute/member/register', { did: DID, handle: 'quipu' });
    expect(member.json).toMatchObject({ did: DID, tier: 'member', spread_pct: 35, jobs: 0 });
    await routed.chat({}, { 'x-agent-did': DID });
    await routed.stream({}, { 'x-agent-did': DID });
    const verified = await routed.service.get(`/v1/compute/member/verify/${DID}`);
    expect(verified.json).toMatchObject({ registered: true, jobs: 2, jobs_to_next_tier: 98 });
    const board = await routed.service.get('/v1/compute/member/leaderboard');
    expect(board.json).toMatchObject({ members: [{ rank: 1, handle: 'quipu', jobs: 2 }] });
    const usage = await routed.service.get(`/v1/compute/usage/${DID}`);
    expect(usage.json).toMatchObject({
      did: DID,
      days: [{ day: '2027-03-01', model: MODEL, calls: 2, prompt_tokens: 24, charged: { nano: '12600' } }],
      total: { calls: 2 },
    });
  });

  it('say so where they are none', async () => {
    const other = `${DID}x`;
    const { json } = await routed.service.get(`/v1/compute/member/verify/${other}`);
    expect(json).toEqual({ did: other, registered: false, tier: 'unregistered', spread_pct: 25 });
  });
});

it('answers from the built-in models where no provider is configured', async () => {
  const alone = await startTestService({ env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' } });
  const reply = await alone.post(CHAT, {
    messages: [
      { role: 'user', content: 'The tally was split in two. Who kept the stock? The lender kept the stock.' },
    ],
  });
  expect(reply.status, reply.text).toBe(200);
  expect(svcOf(reply)).toMatchObject({
    served: { model: 'local/extract-1' },
    billing: { charge: { nano: '0' } },
    receipt: { operator: { entity: 'did:svc:local' }, settlement: { amount: '0' } },
  });
  await alone.close();
});

describe('in production', () => {
  const inProduction = () => {
    const { services } = routed.service;
    const { compute } = services;
    const config = { ...services.config, mode: 'production' as const };
    const pipeline = { ...compute.pipeline, development: false, freeToAll: false };
    return createApp({
      ...services,
      config,
      callers: createCallers(services, { development: false, payments: false }),
      compute: { ...compute, pipeline },
    });
  };
  const ask = async (headers: Record<string, string>, body: JsonObject = {}) =>
    toReply(
      await inProduction().request(CHAT, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: MODEL, messages, ...body }),
      }),
    );

  it('a stranger is not served', async () => {
    const reply = await ask({ 'x-agent-did': DID });
    expect(reply.json).toMatchObject({ code: 'api_key_missing', error: { type: 'authentication_error' } });
  });

  it('who has too little is told how much is there and how much is needed; who has enough pays it', async () => {
    const { store, clock } = routed.service.services;
    const key = await apiKey(routed.service, 'pro');
    let caller = '';
    for await (const { id } of store.apiKeys.list()) caller = id;
    routed.upstream.requests.length = 0;
    const poor = await ask(key);
    expect(poor.json).toMatchObject({
      code: 'insufficient_balance',
      status: 402,
      detail: expect.stringMatching(/up to 0\.0049\d+ USDC, and only 0 USDC are available/),
      error: { code: 'insufficient_quota' },
    });
    expect(routed.upstream.requests).toHaveLength(0);
    await creditCaller(store, { caller, amount: 10_000_000n, reference: 'p', memo: 'paid', now: clock() });
    const paid = await ask(key);
    expect(svcOf(paid).receipt.settlement).toMatchObject({ account: 'api_key', amount: '0.0000063' });
    expect(await routed.balance(callerAccount(caller))).toMatchObject({ balance: 9_993_700n, reserved: 0n });
  });

  it('who has too little for the first choice is served by the next, which the explanation says', async () => {
    const { store, clock } = routed.service.services;
    const known = new Set((await collect(store.apiKeys.list())).map(({ id }) => id));
    const key = await apiKey(routed.service, 'pro');
    const caller = (await collect(store.apiKeys.list())).find(({ id }) => !known.has(id))?.id ?? '';
    await creditCaller(store, { caller, amount: 2_000_000n, reference: 'q', memo: 'paid', now: clock() });
    const models = ['openai/gpt-4o', MODEL];
    const provider = { only: models, order: models };
    const body = { max_tokens: 1_000, provider, svc: { explain: true } };
    const reply = await ask(key, { ...body, model: 'auto' });
    expect(reply.status, reply.text).toBe(200);
    const { routing, served } = svcOf(reply);
    expect(served).toMatchObject({ model: MODEL, failed_tries: [] });
    expect(routing).toMatchObject({
      inputs: { unaffordable: ['openai/gpt-4o'] },
      outcome: { why: 'balance', model: MODEL, fallbacks: [] },
    });
    expect(replay(routing).same).toBe(true);
    const named = await ask(key, { ...body, model: 'openai/gpt-4o' });
    expect(named.json).toMatchObject({ code: 'insufficient_balance', status: 402 });
  });

  it('usage is private', async () => {
    const reply = await toReply(
      await inProduction().request(`/v1/compute/usage/${DID}`, { headers: { 'x-agent-did': DID } }),
    );
    expect(reply.json).toMatchObject({ code: 'signature_invalid', status: 401 });
  });

  it('an API key reads its own usage by its id, and nobody else does, in development neither', async () => {
    const key = await apiKey(routed.service, 'pro');
    const { caller } = (await routed.service.get('/v1/compute/compression/stats', key)).json;
    const { subject } = caller as { subject: string };
    expect(subject).toMatch(/^key_/);
    await routed.chat({}, key);
    const path = `/v1/compute/usage/${subject}`;
    const other = await apiKey(routed.service, 'pro');
    const strangers = [{}, other, { 'x-agent-did': DID }];
    for (const app of [inProduction(), routed.service.app]) {
      const read = async (headers: Record<string, string>) => toReply(await app.request(path, { headers }));
      const own = await read(key);
      expect(own.json).toMatchObject({ did: subject, total: { calls: 1, prompt_tokens: 12 } });
      for (const headers of strangers) {
        expect((await read(headers)).json).toMatchObject({ code: 'signature_invalid', status: 401 });
      }
    }
  });
});
