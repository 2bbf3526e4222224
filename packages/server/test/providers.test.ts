import type { JsonObject } from '@tallystick/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openProvider, type UpstreamKind } from '../../inference/src/providers/open.ts';
import { type ChatAnswer, type Provider, ProviderError } from '../../inference/src/providers/provider.ts';
import { isUsageChunk, readUsage } from '../../inference/src/providers/usage.ts';
import { defaultTimeouts } from '../../inference/src/providers/watch.ts';
import { type Fault, type Script, startUpstream, type Upstream } from './upstream.ts';
import { defaultPieces } from './upstream-script.ts';
import { openaiWire } from './upstream-wires.ts';

const apiKey = 'sk-operator-secret-0123456789';
const text = defaultPieces.join('');
const messages = [{ role: 'user', content: 'Say it.' }];
const patient = { connectMs: 5_000, firstByteMs: 10_000, answerMs: 10_000, idleMs: 10_000 };
const impatient = { connectMs: 1_000, firstByteMs: 150, answerMs: 150, idleMs: 150 };

const paths: Record<UpstreamKind, string> = { openai: '/v1', anthropic: '', ollama: '' };
const kinds = Object.keys(paths) as UpstreamKind[];

let upstream: Upstream;
let provider: Provider;
const opened: Provider[] = [];

function open(kind: UpstreamKind, timeouts = patient): Provider {
  provider = openProvider(kind, { name: 'up', baseUrl: upstream.url + paths[kind], apiKey, timeouts });
  opened.push(provider);
  return provider;
}

function chat(body: JsonObject = {}, signal = new AbortController().signal): Promise<ChatAnswer> {
  return provider.chat({ model: 'm-1', body: { model: 'm-1', messages, ...body }, signal });
}

interface Streamed {
  readonly texts: string[];
  readonly chunks: JsonObject[];
}

async function stream(body: JsonObject = {}, signal?: AbortSignal): Promise<Streamed> {
  const answer = await chat({ stream: true, ...body }, signal);
  if (answer.kind !== 'stream') throw new Error('no stream');
  const read: Streamed = { texts: [], chunks: [] };
  for await (const chunk of answer.chunks) {
    read.texts.push(chunk.text);
    read.chunks.push(chunk.json);
  }
  return read;
}

const choicesOf = (chunks: readonly JsonObject[]): JsonObject[] =>
  chunks.flatMap(({ choices }) => choices as JsonObject[]);
const deltasOf = (chunks: readonly JsonObject[]): JsonObject[] =>
  choicesOf(chunks).map(({ delta }) => delta as JsonObject);
const contentOf = (chunks: readonly JsonObject[]): string =>
  deltasOf(chunks)
    .map(({ content }) => (typeof content === 'string' ? content : ''))
    .join('');

async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error('no ProviderError', { cause: error });
  expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('secret');
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('127.0.0.1');
  return error;
}

beforeEach(async () => {
  upstream = await startUpstream();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await upstream.close();
});

describe.each(kinds)('a provider that speaks %s', (kind) => {
  const cachedTokens = kind === 'ollama' ? 0 : 4;
  const usage = { promptTokens: 12, completionTokens: 8, cachedTokens, estimated: false };
  beforeEach(() => {
    open(kind);
  });

  it('answers in one piece', async () => {
    const answer = await chat();
    if (answer.kind !== 'complete') throw new Error('no complete answer');
    expect(answer.usage).toStrictEqual(usage);
    expect(readUsage(answer.body['usage'])).toStrictEqual(usage);
    expect(answer.body).toMatchObject({ object: 'chat.completion', model: 'm-1' });
    expect(answer.body['choices']).toMatchObject([
      { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
    ]);
    const [request] = upstream.requests;
    expect([request?.headers['authorization'], request?.headers['x-api-key']].join('')).toContain(apiKey);
  });

  it('streams, with the usage in a chunk of its own', async () => {
    const { chunks, texts } = await stream();
    expect(texts.map((chunk) => JSON.parse(chunk))).toStrictEqual(chunks);
    expect(contentOf(chunks)).toBe(text);
    expect(choicesOf(chunks).at(-1)?.['finish_reason']).toBe('stop');
    expect(chunks.filter(isUsageChunk)).toStrictEqual([chunks.at(-1)]);
    expect(readUsage(chunks.at(-1)?.['usage'])).toStrictEqual(usage);
  });

  it.each([1, 3, 7])('streams the same from packets of %i bytes', async (bytes) => {
    upstream.always({ everyMs: 0 });
    const whole = contentOf((await stream()).chunks);
    upstream.always({ fault: { kind: 'split', bytes } });
    const { chunks } = await stream();
    expect(contentOf(chunks)).toBe(whole);
    expect(chunks.some(isUsageChunk)).toBe(true);
  });

  const toolCalls = [
    { id: 'call_1', name: 'weather', pieces: ['{"pl', 'ace":"Zü', 'rich 🌍"', '}'] },
    { id: 'call_2', name: 'now', pieces: kind === 'openai' ? ['{}'] : [] },
  ];
  const called = [
    ['weather', '{"place":"Zürich 🌍"}'],
    ['now', '{}'],
  ];

  it('puts tool calls together whose arguments come in pieces', async () => {
    upstream.always({ toolCalls });
    const { chunks } = await stream();
    const calls: string[][] = [];
    for (const { tool_calls: parts } of deltasOf(chunks))
      for (const part of (parts ?? []) as {
        index: number;
        function: { name?: string; arguments: string };
      }[]) {
        const call = (calls[part.index] ??= [part.function.name ?? '', '']);
        call[1] += part.function.arguments;
      }
    expect(calls).toStrictEqual(called);
    expect(choicesOf(chunks).findLast((choice) => choice['finish_reason'])?.['finish_reason']).toBe(
      'tool_calls',
    );

    const answer = await chat();
    const [choice] = answer.kind === 'complete' ? choicesOf([answer.body]) : [];
    expect(choice?.['message']).toMatchObject({
      content: null,
      tool_calls: called.map(([name, text]) => ({ type: 'function', function: { name, arguments: text } })),
    });
    expect(choice?.['finish_reason']).toBe('tool_calls');
  });

  it('keeps its connection over calls, streamed or not', async () => {
    for (let call = 0; call < 8; call += 1) await (call % 2 ? chat() : stream());
    // The end of a stream's body may come after its last message, when the next call is already made.
    expect(upstream.accepted()).toBeLessThan(3);
  });

  it.each<[string, Script, Partial<ProviderError>]>([
    [
      '429',
      { fault: { kind: 'status', status: 429, retryAfter: '7' } },
      { kind: 'rate_limited', status: 429, retryAfterMs: 7_000, error: null },
    ],
    [
      '500',
      { fault: { kind: 'status', status: 500, message: apiKey } },
      { kind: 'server', status: 500, error: null },
    ],
    ['503', { fault: { kind: 'status', status: 503 } }, { kind: 'overloaded', status: 503 }],
    [
      '401',
      { fault: { kind: 'status', status: 401, message: apiKey } },
      { kind: 'auth', status: 401, error: null },
    ],
    [
      '400',
      { fault: { kind: 'status', status: 400, message: `no ${apiKey}` } },
      { kind: 'refused', status: 400, error: expect.objectContaining({ message: 'no …' }) as JsonObject },
    ],
    ['302', { fault: { kind: 'status', status: 302 } }, { kind: 'bad_answer', status: 302 }],
    ['silence', { fault: { kind: 'silence' } }, { kind: 'timeout', status: null }],
    ['reset', { fault: { kind: 'reset' } }, { kind: 'unreachable', status: null }],
  ])('tells of %s, streamed or not', async (_, script, expected) => {
    upstream.always(script);
    if (expected.kind === 'timeout') open(kind, impatient);
    for (const error of [await failureOf(chat()), await failureOf(stream())]) {
      expect({
        kind: error.kind,
        status: error.status,
        retryAfterMs: error.retryAfterMs,
        error: error.error,
      }).toMatchObject(expected);
    }
  });

  it.each<[Fault['kind'], Fault, ProviderError['kind']]>([
    ['cut', { kind: 'cut', after: 3 }, 'cut'],
    ['short', { kind: 'short', after: 3 }, 'cut'],
    ['stall', { kind: 'stall', after: 3 }, 'timeout'],
    ['garbage', { kind: 'garbage', after: 3 }, 'bad_answer'],
    ['error_event', { kind: 'error_event', after: 3 }, kind === 'anthropic' ? 'overloaded' : 'server'],
  ])('tells of a %s in a stream, after what came before it', async (_, fault, expected) => {
    upstream.always({ fault });
    if (expected === 'timeout') open(kind, impatient);
    const answer = await chat({ stream: true });
    const got: JsonObject[] = [];
    const read = async (): Promise<void> => {
      if (answer.kind === 'stream') for await (const { json } of answer.chunks) got.push(json);
    };
    expect((await failureOf(read())).kind).toBe(expected);
    expect(got.length).toBeGreaterThan(0);
    expect(text.startsWith(contentOf(got))).toBe(true);
  });

  it.each<[string, Fault, ProviderError['kind']]>([
    ['cut', { kind: 'cut', after: 0 }, 'unreachable'],
    ['garbage', { kind: 'garbage', after: 0 }, 'bad_answer'],
    ['short', { kind: 'short', after: 0 }, 'bad_answer'],
    ['stall', { kind: 'stall', after: 0 }, 'timeout'],
  ])('rejects at once for a %s before the first chunk', async (_, fault, expected) => {
    upstream.always({ fault });
    if (expected === 'timeout') open(kind, impatient);
    expect((await failureOf(chat({ stream: true }))).kind).toBe(expected);
  });

  it.each<[string, Fault, ProviderError['kind']]>([
    ['cut', { kind: 'cut', after: 0 }, 'cut'],
    ['garbage', { kind: 'garbage', after: 0 }, 'bad_answer'],
  ])('tells of a %s in an answer of one piece', async (_, fault, expected) => {
    upstream.always({ fault });
    expect((await failureOf(chat())).kind).toBe(expected);
  });

  it.each<[string, JsonObject]>([
    [
      'negative',
      {
        prompt_tokens: -1,
        completion_tokens: 2,
        input_tokens: -1,
        output_tokens: 2,
        prompt_eval_count: -1,
        eval_count: 2,
      },
    ],
    [
      'text',
      {
        prompt_tokens: '9',
        completion_tokens: 2,
        input_tokens: '9',
        output_tokens: 2,
        prompt_eval_count: '9',
        eval_count: 2,
      },
    ],
    [
      'absurd',
      {
        prompt_tokens: 1,
        completion_tokens: 1e12,
        input_tokens: 1,
        output_tokens: 1e12,
        prompt_eval_count: 1,
        eval_count: 1e12,
      },
    ],
    ['missing', {}],
  ])('takes %s usage for no count', async (name, wrongUsage) => {
    upstream.always({ wrongUsage });
    const answer = await chat();
    const none = kind === 'openai' && name !== 'missing' ? 'malformed' : null;
    expect(answer.kind === 'complete' && answer.usage).toBe(none);
    const { chunks } = await stream();
    expect(contentOf(chunks)).toBe(text);
    expect(chunks.map((chunk) => readUsage(chunk['usage'])).find((found) => found !== null) ?? null).toBe(
      none,
    );
  });

  it('leaves the upstream within 50 ms of an abort, in a stream and before it', async () => {
    for (const script of [{ everyMs: 20 }, { fault: { kind: 'silence' } }] as const) {
      upstream.always(script);
      const took: number[] = [];
      for (let round = 0; round < 6; round += 1) {
        const controller = new AbortController();
        const left = upstream.hungUp();
        const working = failureOf(stream({}, controller.signal));
        while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        await new Promise((resolve) => setTimeout(resolve, 40));
        const at = performance.now();
        controller.abort();
        expect((await working).kind).toBe('aborted');
        took.push((await left) - at);
        upstream.requests.length = 0;
      }
      // The machine may be busy, so not each.
      expect(Math.min(...took)).toBeLessThan(50);
    }
  });

  it('leaves the upstream when whoever reads leaves', async () => {
    upstream.always({ everyMs: 5 });
    const left = upstream.hungUp();
    const answer = await chat({ stream: true });
    if (answer.kind === 'stream') for await (const _ of answer.chunks) break;
    expect(await left).toBeGreaterThan(0);
  });

  it('sends nothing once its signal has aborted', async () => {
    expect((await failureOf(chat({}, AbortSignal.abort()))).kind).toBe('aborted');
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('OpenAI’s own format', () => {
  it('passes to the byte, with only the usage asked for besides', async () => {
    open('openai');
    const body = { logprobs: true, n: 2, stream_options: { include_obfuscation: false }, seed: 7 };
    const { texts } = await stream(body);
    const [request] = upstream.requests;
    if (!request) throw new Error('no request');
    expect(request.body).toStrictEqual({
      model: 'm-1',
      messages,
      ...body,
      stream: true,
      stream_options: { include_obfuscation: false, include_usage: true },
    });
    const sent = openaiWire.events({}, request).map((event) => event.slice('data: '.length).trimEnd());
    expect([...texts, '[DONE]']).toStrictEqual(sent);
  });

  it.each(['openai', 'ollama'] as const)('embeds with %s, as floats and as base64', async (kind) => {
    open(kind);
    for (const encoding of ['float', 'base64']) {
      const body = { input: ['a', 'b'], encoding_format: encoding };
      const answer = await provider.embed?.({ model: 'e-1', body, signal: new AbortController().signal });
      expect(answer?.usage).toStrictEqual({
        promptTokens: 5,
        completionTokens: 0,
        cachedTokens: 0,
        estimated: false,
      });
      const embedding = encoding === 'float' ? [0.5, -0.25, 0.125] : 'AAAAPwAAgL4AAAA+';
      expect(answer?.body['data']).toStrictEqual(
        [0, 1].map((index) => ({ object: 'embedding', index, embedding })),
      );
    }
  });
});

describe('where an upstream is', () => {
  it.each(['ftp://example.org', 'https://user:secret@example.org'])('refuses %s', (baseUrl) => {
    expect(() => openProvider('openai', { name: 'up', baseUrl, apiKey })).toThrow(TypeError);
  });

  it('is told apart from where nobody listens', async () => {
    const gone = await startUpstream();
    await gone.close();
    provider = openProvider('openai', { name: 'up', baseUrl: gone.url, apiKey });
    opened.push(provider);
    expect((await failureOf(chat())).kind).toBe('unreachable');
  });

  it('carries 500 streams at once, none lost, none reordered', async () => {
    open('openai', defaultTimeouts);
    const pieces = Array.from({ length: 64 }, (_, index) => `${index} `);
    upstream.always({ pieces, everyMs: 20 });
    const all = await Promise.all(Array.from({ length: 500 }, () => stream()));
    expect(new Set(all.map(({ chunks }) => contentOf(chunks)))).toStrictEqual(new Set([pieces.join('')]));
  });
});
