import type { JsonObject } from '@tallystick/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answerHash,
  CHAT,
  IMPATIENT,
  MODEL,
  messages,
  payloadsOf,
  type Routed,
  startRouted,
  svcIn,
  svcOf,
  textIn,
} from './compute.ts';
import { freePort } from './free-port.ts';
import { objectsIn, SPOKEN, spokenHash } from './spoken.ts';
import type { Script } from './upstream.ts';
import { defaultPieces } from './upstream-script.ts';

const model = MODEL;

/** Breakers are the process's, so each test has a service of its own. */
let routed: Routed;
beforeEach(async () => {
  routed = await startRouted({ env: IMPATIENT });
});
afterEach(() => routed.close());

const owed = async (): Promise<bigint> => -(await routed.balance('development')).balance;
const down = (status: number, retryAfter?: string): Script => ({
  fault: { kind: 'status', status, ...(retryAfter === undefined ? {} : { retryAfter }) },
});

interface Row {
  readonly fault: string;
  readonly answers: readonly Script[];
  /** Of the request that is not streamed, and of the stream. */
  readonly status: number;
  readonly code?: string;
  /** What the provider sees. */
  readonly calls: number;
  /** Whether chat alone is tried, since what happens does not depend on the protocol. */
  readonly chatOnly?: true;
}

/** Faults before the first byte: the same for streams, and nobody pays for a failure. */
const BEFORE: readonly Row[] = [
  { fault: '429 with Retry-After, then an answer', answers: [down(429, '0'), {}], status: 200, calls: 2 },
  {
    fault: '429 with Retry-After, for good',
    answers: [down(429, '0'), down(429, '0'), down(429, '0')],
    status: 429,
    code: 'provider_rate_limited',
    calls: 3,
  },
  {
    fault: '429 that asks for more time than a call has',
    answers: [down(429, '3600')],
    status: 429,
    code: 'provider_rate_limited',
    calls: 1,
    chatOnly: true,
  },
  { fault: '500, then an answer', answers: [down(500), {}], status: 200, calls: 2, chatOnly: true },
  {
    fault: '500 for good',
    answers: [down(500), down(500), down(500)],
    status: 502,
    code: 'provider_failed',
    calls: 3,
    chatOnly: true,
  },
  { fault: '401', answers: [down(401)], status: 502, code: 'provider_failed', calls: 1, chatOnly: true },
  { fault: '400', answers: [down(400)], status: 400, code: 'provider_refused', calls: 1 },
  {
    fault: 'a connection that is reset',
    answers: [{ fault: { kind: 'reset' } }, {}],
    status: 200,
    calls: 2,
    chatOnly: true,
  },
  {
    fault: 'silence',
    answers: [{ fault: { kind: 'silence' } }],
    status: 504,
    code: 'provider_timeout',
    calls: 1,
  },
  {
    fault: 'a slow first byte, in time',
    answers: [{ fault: { kind: 'slow_first_byte', ms: 150 } }],
    status: 200,
    calls: 1,
    chatOnly: true,
  },
  {
    fault: 'a first byte that is too slow',
    answers: [{ fault: { kind: 'slow_first_byte', ms: 3_000 } }],
    status: 504,
    code: 'provider_timeout',
    calls: 1,
    chatOnly: true,
  },
  {
    fault: 'garbage',
    answers: [{ fault: { kind: 'garbage', after: 0 } }],
    status: 502,
    code: 'provider_failed',
    calls: 1,
  },
];

const bothWays = (rows: readonly Row[]) =>
  rows.flatMap((row) => [false, true].map((stream) => ({ ...row, stream })));

const describeSpoken = describe.each(SPOKEN.map((spoken) => [spoken.name, spoken] as const));

describeSpoken('%s before the first byte', (name, { path, request, refusedBy }) => {
  const rows = BEFORE.filter(({ chatOnly }) => name === 'chat' || chatOnly !== true);

  const playing = async ({ answers, stream }: Row & { stream: boolean }) => {
    routed.upstream.play(...answers);
    const response = await routed.post(path, { model, ...request, stream });
    return { response, text: await response.text() };
  };

  it.each(bothWays(rows.filter(({ code }) => code === undefined)))(
    '$fault: is served after $calls calls, and billed (stream: $stream)',
    async (row) => {
      const { response, text } = await playing(row);
      expect(response.status, text).toBe(200);
      expect(routed.upstream.requests).toHaveLength(row.calls);
      expect(text).toContain(`"receipt_id":"${response.headers.get('x-receipt-id')}"`);
      expect(await owed()).toBeGreaterThan(0n);
      await routed.expectBalanced();
    },
  );

  it.each(bothWays(rows.filter(({ code }) => code !== undefined)))(
    '$fault: is $status $code after $calls calls, and nobody pays (stream: $stream)',
    async (row) => {
      const { response, text } = await playing(row);
      expect(response.status, text).toBe(row.status);
      expect(routed.upstream.requests).toHaveLength(row.calls);
      expect(JSON.parse(text)).toMatchObject({ code: row.code, ...refusedBy(row.code ?? '') });
      expect(response.headers.has('x-receipt-id')).toBe(false);
      expect(text).not.toContain('operator-secret');
      expect(text).not.toContain(routed.upstream.url);
      expect(await owed()).toBe(0n);
      await routed.expectBalanced();
    },
  );
});

it('passes Retry-After on', async () => {
  routed.upstream.play(down(429, '3600'));
  const reply = await routed.chat({ model });
  expect(reply.headers.get('retry-after')).toBe('3600');
});

it('tells of the tries that failed', async () => {
  routed.upstream.play(down(500), {});
  expect(svcOf(await routed.chat({ model })).served).toEqual({
    model,
    provider: 'openai',
    failed_tries: [{ model, failed: 'server', status: 500 }],
  });
});

it('falls back to the next candidate where the model is not named', async () => {
  const failing = new Set<string>();
  routed.upstream.always(({ body }) => {
    const name = JSON.stringify(body['model']);
    if (failing.size === 0) failing.add(name);
    return failing.has(name) ? { fault: { kind: 'garbage', after: 0 } } : {};
  });
  const reply = await routed.chat({ model: 'auto', provider: { only: ['openai'] } });
  routed.upstream.always({});
  expect(reply.status).toBe(200);
  const [failed] = svcOf(reply).served.failed_tries;
  expect(failed).toMatchObject({ failed: 'bad_answer' });
  expect(failed?.['model']).not.toBe(svcOf(reply).served.model);
});

const UNREACHABLE = 'could not be reached, or closed the connection before it answered';
/** Each as the failure of every try. */
const TOLD: readonly (readonly [script: Script, streams: readonly boolean[], told: string])[] = [
  [{ fault: { kind: 'reset' } }, [false, true], UNREACHABLE],
  [down(503), [false, true], 'failed with status 503'],
  [down(302), [false, true], 'failed with status 302'],
  [down(401), [false, true], 'refused the credentials or the account of the service, with status 401'],
  [{ fault: { kind: 'silence' } }, [false, true], 'did not answer in time'],
  [{ fault: { kind: 'garbage', after: 0 } }, [false, true], 'could not be read'],
  [{ fault: { kind: 'cut', after: 0 } }, [false], 'broke off its answer'],
  [{ fault: { kind: 'error_event', after: 0 } }, [true], 'failed with status 500'],
];

it.each(TOLD.flatMap(([script, streams, told]) => streams.map((stream) => [told, stream, script] as const)))(
  'says of a provider that it %s (stream: %s)',
  async (told, stream, script) => {
    routed.upstream.always(script);
    const { json } = await routed.chat({ model, stream });
    expect(json['detail']).toContain(told);
    expect(json['detail']).not.toContain('127.0.0.1');
  },
);

it('says of a provider that nobody listens at that it could not be reached', async () => {
  const alone = await startRouted({ env: { OPENAI_BASE_URL: `http://127.0.0.1:${await freePort()}/v1` } });
  const { json } = await alone.chat({ model });
  await alone.close();
  expect(json).toMatchObject({ status: 502, code: 'provider_failed' });
  expect(json['detail']).toContain(UNREACHABLE);
});

const USAGE = { prompt_tokens: 12, completion_tokens: 0, total_tokens: 12 };
const ROLE = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null };
const FILTERED = { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] };

describe('an answer without a choice', () => {
  const EMPTY: readonly (readonly [name: string, stream: boolean, script: Script])[] = [
    ['in one piece', false, { answer: { choices: [], usage: USAGE } }],
    ['in one piece, with a choice that is none', false, { answer: { choices: [null], usage: USAGE } }],
    ['in a stream of nothing but usage', true, { chunks: [{ choices: [], usage: USAGE }] }],
    ['in a stream of nothing', true, { chunks: [] }],
    ['in a stream that only tells what Azure says of the prompt', true, { chunks: [FILTERED] }],
    ['in a stream of the role alone', true, { chunks: [{ choices: [ROLE] }, { choices: [], usage: USAGE }] }],
  ];

  it.each(EMPTY)('%s is a failure, and nobody pays', async (_, stream, script) => {
    routed.upstream.always(script);
    const asked = { model, stream, stream_options: stream ? { include_usage: true } : null };
    const reply = await routed.chat(asked);
    expect(reply.status, reply.text).toBe(502);
    expect(reply.json).toMatchObject({ code: 'provider_failed' });
    expect(reply.headers.has('x-receipt-id')).toBe(false);
    expect(routed.upstream.requests).toHaveLength(1);
    expect(await owed()).toBe(0n);
    await routed.expectBalanced();
  });

  it.each(EMPTY)('%s has the next candidate called', async (_, stream, script) => {
    routed.upstream.play(script);
    const asked = { model: 'auto', provider: { only: ['openai'] } };
    const svc = stream ? (await routed.stream(asked)).svc : svcOf(await routed.chat(asked));
    expect(svc?.served.failed_tries).toMatchObject([{ failed: 'bad_answer', status: null }]);
    expect(routed.upstream.requests).toHaveLength(2);
    expect(await owed()).toBe(BigInt(svc?.billing.charge.nano ?? 0));
    await routed.expectBalanced();
  });

  it('is none where one follows what Azure says of the prompt, and every chunk is passed on', async () => {
    const said = { index: 0, delta: { content: 'It.' }, finish_reason: null };
    const end = { index: 0, delta: {}, finish_reason: 'stop' };
    const chunks = [FILTERED, ...[ROLE, said, end].map((choice) => ({ choices: [choice] }))];
    routed.upstream.play({ chunks: [...chunks, { choices: [], usage: USAGE }] });
    const { payloads, svc } = await routed.stream({ stream_options: { include_usage: true } });
    expect(objectsIn(payloads)).toMatchObject([...chunks, { choices: [], usage: USAGE, svc: {} }]);
    expect(payloads.at(-1)).toBe('[DONE]');
    expect(svc?.receipt.call).toMatchObject({ complete: true });
  });
});

/** What a stream says before its first word, by the model whose provider sends it: that it was opened. */
const OPENED = [
  { model: MODEL, type: 'server_error', after: [1] },
  { model: 'anthropic/claude-haiku-4-5', type: 'overloaded_error', after: [1, 2, 3] },
  { model: 'anthropic/claude-haiku-4-5', type: 'api_error', after: [1, 2, 3] },
].flatMap(({ after, ...row }) => after.map((events) => ({ ...row, after: events })));

describeSpoken('%s opened by a provider that then fails', (_, spoken) => {
  const ask = (body: JsonObject) => routed.post(spoken.path, { ...spoken.request, ...body, stream: true });

  it.each(OPENED)('$type after $after events of $model is a failure, and nobody pays', async (row) => {
    routed.upstream.always({ fault: { kind: 'error_event', after: row.after, type: row.type } });
    const response = await ask({ model: row.model });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject(spoken.refusedBy('provider_failed'));
    expect(routed.upstream.requests).toHaveLength(3);
    expect(await owed()).toBe(0n);
    await routed.expectBalanced();
  });

  it('is tried again, and then another model is called', async () => {
    const failing = new Set<string>();
    const fault = { kind: 'error_event', after: 2, type: 'overloaded_error' } as const;
    routed.upstream.always(({ body }) => {
      const name = JSON.stringify(body['model']);
      if (failing.size === 0) failing.add(name);
      return failing.has(name) ? { fault } : {};
    });
    const response = await ask({ model: 'auto', provider: { only: ['anthropic'] } });
    const payloads = payloadsOf(await response.text());
    expect(spoken.textOf(payloads)).toBe(defaultPieces.join(''));
    const svc = svcIn(payloads);
    const tried = { failed: 'overloaded', status: 529 };
    expect(svc?.served.failed_tries).toMatchObject([tried, tried, tried]);
    expect(svc?.receipt.call).toMatchObject({ complete: true });
    expect(await owed()).toBe(BigInt(svc?.billing.charge.nano ?? 0));
    await routed.expectBalanced();
  });
});

const WITHIN = [
  { fault: 'a stream that is cut', kind: 'cut', code: 'provider_failed' },
  { fault: 'a stream that ends early', kind: 'short', code: 'provider_failed' },
  { fault: 'a stream that stalls', kind: 'stall', code: 'provider_timeout' },
  { fault: 'garbage within a stream', kind: 'garbage', code: 'provider_failed' },
  { fault: 'an error of the provider within a stream', kind: 'error_event', code: 'provider_failed' },
] as const;

/** The pieces of text among the first events of a stream, by the model whose provider sends them. */
const BROKEN_AFTER = [
  { model: MODEL, after: 3, pieces: 2 },
  { model: 'anthropic/claude-haiku-4-5', after: 5, pieces: 2 },
];

describeSpoken('%s within an answer', (_, spoken) => {
  const rows = WITHIN.flatMap((fault) => BROKEN_AFTER.map((place) => ({ ...fault, ...place })));

  it.each(rows)('$fault of $model is told, and what came is billed and receipted', async (row) => {
    const before = await owed();
    routed.upstream.play({ fault: { kind: row.kind, after: row.after } });
    const response = await routed.post(spoken.path, { model: row.model, ...spoken.request, stream: true });
    const payloads = payloadsOf(await response.text());
    const svc = svcIn(payloads);
    expect(response.status).toBe(200);
    expect(routed.upstream.requests).toHaveLength(1);
    const end = spoken.brokenBy(row.code);
    expect(objectsIn(payloads.slice(-end.length))).toMatchObject(end);
    expect(payloads).not.toContain('[DONE]');
    expect(spoken.textOf(payloads)).toBe(defaultPieces.slice(0, row.pieces).join(''));
    expect(svc?.receipt).toMatchObject({
      receipt_id: response.headers.get('x-receipt-id'),
      call: { complete: false, usage_estimated: true },
      response: { hash: spokenHash(spoken, payloads) },
    });
    const { billing } = svc ?? {};
    expect(Number(svc?.receipt.call['completion_tokens'])).toBeGreaterThan(0);
    expect(await owed()).toBe(before + BigInt(billing?.charge.nano ?? 0));
    await routed.expectBalanced();
  });

  it('a client that hangs up pays for what it got, and the provider is left at once', async () => {
    const before = await owed();
    routed.upstream.play({ pieces: Array.from({ length: 200 }, () => 'word '), everyMs: 20 });
    const hungUp = routed.upstream.hungUp();
    const controller = new AbortController();
    const body = { model, ...spoken.request, stream: true };
    const response = await routed.post(spoken.path, body, {}, controller.signal);
    const reader = response.body?.getReader();
    for (let chunks = 0; chunks < 3; chunks += 1) await reader?.read();
    controller.abort();
    await hungUp;
    await expect.poll(owed).toBeGreaterThan(before);
    const kept = await routed.service.get(`/v1/receipt/${response.headers.get('x-receipt-id')}`);
    expect(kept.json).toMatchObject({ call: { complete: false } });
    await routed.expectBalanced();
  });

  it('a service that stops ends it, and bills what came', async () => {
    routed.upstream.play({ pieces: Array.from({ length: 500 }, () => 'word '), everyMs: 20 });
    const response = await routed.post(spoken.path, { model, ...spoken.request, stream: true });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader?.read())?.value ?? '';
    await Promise.all(routed.service.processes.map((one) => one.endCalls()));
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read())
      text += step.value;
    const payloads = payloadsOf(text);
    const end = spoken.brokenBy('unavailable');
    expect(objectsIn(payloads.slice(-end.length))).toMatchObject(end);
    expect(svcIn(payloads)?.receipt).toMatchObject({
      call: { complete: false },
      response: { hash: spokenHash(spoken, payloads) },
    });
    await routed.expectBalanced();
  });
});

it.each([
  { prompt_tokens: -5, completion_tokens: 3, total_tokens: -2 },
  { prompt_tokens: 'many' },
  { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 11 } },
])('counts for itself where the provider’s usage can’t be true: %j', async (wrongUsage) => {
  routed.upstream.play({ wrongUsage }, { wrongUsage });
  const reply = await routed.chat({ model });
  const { svc } = await routed.stream({ model });
  for (const { receipt } of [svcOf(reply), ...(svc ? [svc] : [])]) {
    expect(receipt.call).toMatchObject({ usage_estimated: true, complete: true });
    expect(Number(receipt.call['completion_tokens'])).toBeGreaterThan(5);
  }
  expect(svcOf(reply).receipt.response.hash).toBe(answerHash(reply));
});

it('never charges more than was put aside', async () => {
  routed.upstream.play({ usage: { prompt: 1_000_000, completion: 1_000_000 } });
  const { billing } = svcOf(await routed.chat({ model, max_tokens: 5, svc: { explain: true } }));
  expect(BigInt(billing.charge.nano)).toBeLessThanOrEqual(
    BigInt((billing['reserved'] as { nano: string }).nano),
  );
  await routed.expectBalanced();
});

describe('a client that hangs up', () => {
  it('ends the upstream call at once, pays for what it got, and does not trip the breaker', async () => {
    for (let round = 0; round < 6; round += 1) {
      const before = await owed();
      // It would take 25 s.
      routed.upstream.play({ pieces: Array.from({ length: 500 }, () => 'word '), everyMs: 50 });
      const hungUp = routed.upstream.hungUp();
      const controller = new AbortController();
      const response = await routed.post(CHAT, { model, messages, stream: true }, {}, controller.signal);
      const reader = response.body?.getReader();
      for (let chunks = 0; chunks < 3; chunks += 1) await reader?.read();
      controller.abort();
      // An answer that is sent whole hangs up nothing.
      await hungUp;
      await expect.poll(owed).toBeGreaterThan(before);
    }
    const { svc } = await routed.stream({ model });
    expect(svc?.receipt.call).toMatchObject({ complete: true });
    await routed.expectBalanced();
  });

  it('pays nothing where nothing came', async () => {
    const before = await owed();
    routed.upstream.play({ fault: { kind: 'silence' } });
    const hungUp = routed.upstream.hungUp();
    const controller = new AbortController();
    const posted = routed.post(CHAT, { model, messages }, {}, controller.signal);
    await expect.poll(() => routed.upstream.requests.length).toBe(1);
    controller.abort();
    await expect(posted).rejects.toThrow(/abort/);
    await hungUp;
    await expect.poll(async () => (await routed.balance('development')).reserved).toBe(0n);
    expect(await owed()).toBe(before);
  });
});

it('loses and reorders nothing in 500 streams at once', async () => {
  const patient = await startRouted();
  const pieces = Array.from({ length: 64 }, (_, index) => `${index} `);
  patient.upstream.always({ pieces, everyMs: 20 });
  const texts = await Promise.all(
    Array.from({ length: 500 }, async () => {
      const response = await patient.post(CHAT, { model, messages, stream: true });
      return payloadsOf(await response.text());
    }),
  );
  for (const payloads of texts) {
    expect(textIn(payloads)).toBe(pieces.join(''));
    expect(payloads.at(-1)).toBe('[DONE]');
  }
  await patient.expectBalanced();
  await patient.close();
});
