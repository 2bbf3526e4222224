import type { JsonObject } from '@tallystick/core';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import type { UpstreamKind } from '../../inference/src/catalogue/kinds.ts';
import { responses } from '../../inference/src/protocols/responses/responses.ts';
import { openProvider } from '../../inference/src/providers/open.ts';
import { type ChatAnswer, type Provider, ProviderError } from '../../inference/src/providers/provider.ts';
import type { UpstreamOptions } from '../../inference/src/providers/upstream.ts';
import { isUsageChunk, readUsage } from '../../inference/src/providers/usage.ts';
import { defaultTimeouts } from '../../inference/src/providers/watch.ts';
import { CREDENTIALS, REGION } from '../../issuers/test/kms-server.ts';
import { type Fault, type Script, startUpstream, type Upstream } from './upstream.ts';
import { BEDROCK_KEY } from './upstream-bedrock.ts';
import { defaultPieces, type UpstreamRequest } from './upstream-script.ts';
import { ENTRA, serviceAccount } from './upstream-tokens.ts';
import { openaiWire } from './upstream-wires.ts';

const apiKey = 'sk-operator-secret-0123456789';
const text = defaultPieces.join('');
const messages = [{ role: 'user', content: 'Say it.' }];
const patient = { connectMs: 5_000, firstByteMs: 10_000, answerMs: 10_000, idleMs: 10_000 };
const impatient = { connectMs: 1_000, firstByteMs: 150, answerMs: 150, idleMs: 150 };

const paths: Record<UpstreamKind, string> = {
  openai: '/v1',
  anthropic: '',
  ollama: '',
  gemini: '',
  azure: '/openai/v1',
  vertex: '/v1/projects/p-1/locations/l-1/publishers/google',
  bedrock: '',
};
const speaksOpenai: ReadonlySet<UpstreamKind> = new Set(['openai', 'azure']);
const kinds = Object.keys(paths) as UpstreamKind[];

let upstream: Upstream;
let provider: Provider;
const opened: Provider[] = [];

const apiKeys = [{ key: apiKey, weight: 1 }];

/** The operator's secret at a provider of the kind. */
const secretOf = (kind: UpstreamKind): string => {
  if (kind === 'bedrock') return CREDENTIALS.secretAccessKey;
  return kind === 'vertex' ? serviceAccount() : apiKey;
};
const aws = { given: CREDENTIALS, container: null, file: { path: '', profile: '' } };

function open(kind: UpstreamKind, options: Partial<UpstreamOptions> = {}): Provider {
  provider = openProvider(kind, {
    name: 'up',
    baseUrl: upstream.url + paths[kind],
    apiKeys: kind === 'bedrock' ? [] : [{ key: secretOf(kind), weight: 1 }],
    ...(kind === 'bedrock' && { aws, signingRegion: REGION }),
    oauth: kind === 'vertex' ? { tokenUrl: `${upstream.url}/token`, clientId: null, scope: null } : null,
    timeouts: patient,
    ...options,
  });
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

/** Counts by the names of every provider. */
const countsOf = (prompt: number | string, completion: number): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  input_tokens: prompt,
  output_tokens: completion,
  prompt_eval_count: prompt,
  eval_count: completion,
  inputTokens: prompt,
  outputTokens: completion,
  promptTokenCount: prompt,
  candidatesTokenCount: completion,
});

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
    expect(readUsage(answer.body)).toStrictEqual(usage);
    expect(answer.body).toMatchObject({ object: 'chat.completion', model: 'm-1' });
    expect(answer.body['choices']).toMatchObject([
      { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
    ]);
    const [request] = upstream.requests;
    const others: Partial<Record<UpstreamKind, string | undefined>> = {
      vertex: upstream.tokens.issued[0],
      bedrock: CREDENTIALS.accessKeyId,
    };
    const shown = others[kind] ?? apiKey;
    expect(JSON.stringify(request?.headers)).toContain(shown);
    expect(request?.headers).toMatchObject({ 'accept-encoding': 'identity' });
    expect(request?.path).not.toContain(shown);
  });

  it('streams, with the usage in a chunk of its own', async () => {
    const { chunks, texts } = await stream();
    expect(texts.map((chunk) => JSON.parse(chunk))).toStrictEqual(chunks);
    expect(contentOf(chunks)).toBe(text);
    expect(choicesOf(chunks).at(-1)?.['finish_reason']).toBe('stop');
    expect(chunks.filter(isUsageChunk)).toStrictEqual([chunks.at(-1)]);
    expect(readUsage(chunks.at(-1) ?? null)).toStrictEqual(usage);
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
    { id: 'call_2', name: 'now', pieces: speaksOpenai.has(kind) ? ['{}'] : [] },
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
    expect(upstream.accepted() - upstream.tokens.issued.length).toBeLessThan(3);
  });

  it.each<[string, Script, Partial<ProviderError>]>([
    [
      '429',
      { fault: { kind: 'status', status: 429, retryAfter: '7' } },
      { kind: 'rate_limited', status: 429, retryAfterMs: 7_000, error: null },
    ],
    [
      '500',
      { fault: { kind: 'status', status: 500, message: secretOf(kind) } },
      { kind: 'server', status: 500, error: null },
    ],
    ['503', { fault: { kind: 'status', status: 503 } }, { kind: 'overloaded', status: 503 }],
    [
      '401',
      { fault: { kind: 'status', status: 401, message: secretOf(kind) } },
      { kind: 'auth', status: 401, error: null },
    ],
    [
      '400',
      { fault: { kind: 'status', status: 400, message: `no ${secretOf(kind)}` } },
      { kind: 'refused', status: 400, error: expect.objectContaining({ message: 'no …' }) as JsonObject },
    ],
    ['302', { fault: { kind: 'status', status: 302 } }, { kind: 'bad_answer', status: 302 }],
    ['silence', { fault: { kind: 'silence' } }, { kind: 'timeout', status: null }],
    ['reset', { fault: { kind: 'reset' } }, { kind: 'unreachable', status: null }],
  ])('tells of %s, streamed or not', async (_, script, expected) => {
    upstream.always(script);
    if (expected.kind === 'timeout') open(kind, { timeouts: impatient });
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
    ['cut', { kind: 'cut', after: 4 }, 'cut'],
    ['short', { kind: 'short', after: 4 }, 'cut'],
    ['stall', { kind: 'stall', after: 4 }, 'timeout'],
    ['garbage', { kind: 'garbage', after: 4 }, 'bad_answer'],
    ['error_event', { kind: 'error_event', after: 4 }, kind === 'anthropic' ? 'overloaded' : 'server'],
  ])('tells of a %s in a stream, after what came before it', async (_, fault, expected) => {
    upstream.always({ fault });
    // What comes before a stall must come in time on a busy machine too.
    if (expected === 'timeout') open(kind, { timeouts: { ...patient, idleMs: 1_000 } });
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
    if (expected === 'timeout') open(kind, { timeouts: impatient });
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
    ['negative', countsOf(-1, 2)],
    ['text', countsOf('9', 2)],
    ['absurd', countsOf(1, 1e12)],
    ['missing', {}],
  ])('takes %s usage for no count', async (name, wrongUsage) => {
    upstream.always({ wrongUsage });
    const answer = await chat();
    const none = speaksOpenai.has(kind) && name !== 'missing' ? 'malformed' : null;
    expect(answer.kind === 'complete' && answer.usage).toBe(none);
    const { chunks } = await stream();
    expect(contentOf(chunks)).toBe(text);
    expect(chunks.map((chunk) => readUsage(chunk)).find((found) => found !== null) ?? null).toBe(none);
  });

  it('leaves the upstream once the call is aborted, in a stream and before it', async () => {
    const pieces = Array.from({ length: 500 }, () => 'word ');
    for (const script of [{ pieces, everyMs: 50 }, { fault: { kind: 'silence' } }] as const) {
      upstream.always(script);
      const controller = new AbortController();
      const left = upstream.hungUp();
      const working = failureOf(stream({}, controller.signal));
      await expect.poll(() => upstream.requests.length).toBe(1);
      controller.abort();
      expect((await working).kind).toBe('aborted');
      expect(await left).toBeGreaterThan(0);
      upstream.requests.length = 0;
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
    const sent = openaiWire
      .events({}, request)
      .map((event) => String(event).slice('data: '.length).trimEnd());
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

describe('access tokens', () => {
  const oauth = (tokenUrl = `${upstream.url}/token`) => ({ tokenUrl, clientId: null, scope: null });

  let now: number;
  let clock: MockInstance<() => number>;
  beforeEach(() => {
    now = Date.now();
    clock = vi.spyOn(Date, 'now').mockReturnValue(now);
  });
  afterEach(() => {
    clock.mockRestore();
  });

  it('are used until shortly before their end, by calls that come at once too', async () => {
    open('vertex');
    await Promise.all(Array.from({ length: 20 }, () => chat()));
    expect(upstream.tokens.issued).toHaveLength(1);
    clock.mockReturnValue(now + 3_200_000);
    await chat();
    expect(upstream.tokens.issued).toHaveLength(1);
    clock.mockReturnValue(now + 3_400_000);
    await chat();
    expect(upstream.tokens.issued).toHaveLength(2);
  });

  it('are asked for again when the provider refuses one', async () => {
    open('vertex');
    await chat();
    upstream.tokens.issued[0] = 'revoked';
    expect((await failureOf(chat())).kind).toBe('auth');
    await chat();
    expect(upstream.tokens.issued).toHaveLength(2);
  });

  it('that are not renewed in time serve until their end', async () => {
    open('vertex');
    await chat();
    upstream.tokens.failure = { status: 503, body: {} };
    clock.mockReturnValue(now + 3_400_000);
    await chat();
    clock.mockReturnValue(now + 3_700_000);
    expect(await failureOf(chat())).toMatchObject({ kind: 'overloaded', status: 503 });
  });

  it.each<[string, number, JsonObject, string]>([
    ['refuses', 400, { error: 'invalid_grant', error_description: 'secret' }, 'auth'],
    ['is down', 500, {}, 'server'],
    ['gives none', 200, { expires_in: 9 }, 'bad_answer'],
    ['gives one without an end', 200, { access_token: 'secret' }, 'bad_answer'],
  ])('fail the call where the endpoint %s, without its words', async (_, status, body, kind) => {
    open('vertex');
    upstream.tokens.failure = { status, body };
    expect(await failureOf(chat())).toMatchObject({ kind, error: null });
    expect(upstream.requests).toEqual([]);
  });

  it('are not to be had by a key that is none', async () => {
    open('vertex', { apiKeys: [{ key: '{"client_email":"secret"}', weight: 1 }] });
    expect((await failureOf(chat())).kind).toBe('auth');
    const account = JSON.parse(serviceAccount()) as JsonObject;
    const broken = { ...account, private_key: '-----BEGIN PRIVATE KEY-----\nsecret' };
    open('vertex', { apiKeys: [{ key: JSON.stringify(broken), weight: 1 }] });
    expect((await failureOf(chat())).kind).toBe('auth');
  });

  it('are scrubbed from what a provider says of a request', async () => {
    open('vertex');
    upstream.always({ fault: { kind: 'status', status: 400, message: 'not with token-secret-1' } });
    expect((await failureOf(chat())).error).toMatchObject({ message: 'not with …' });
  });

  it('of Microsoft Entra let in at Azure', async () => {
    const { clientId, secret, scope } = ENTRA;
    open('azure', { apiKeys: [{ key: secret, weight: 1 }], oauth: { ...oauth(), clientId, scope } });
    expect(contentOf((await stream()).chunks)).toBe(text);
    expect(upstream.requests[0]?.headers).toMatchObject({ authorization: 'Bearer token-secret-1' });
    expect(upstream.requests[0]?.headers).not.toHaveProperty('api-key');
  });
});

describe('Azure', () => {
  it('names the deployment and the version in the URL where a version is configured', async () => {
    open('azure', { baseUrl: `${upstream.url}/openai`, apiVersion: '2024-10-21' });
    expect(contentOf((await stream()).chunks)).toBe(text);
    expect(upstream.requests[0]?.path).toBe(
      '/openai/deployments/m-1/chat/completions?api-version=2024-10-21',
    );
  });

  it.each([
    ['/openai/v1', null, '/openai/v1/responses'],
    ['/openai', '2025-03-01-preview', '/openai/responses?api-version=2025-03-01-preview'],
  ])('takes Responses as they came, under %s', async (path, apiVersion, expected) => {
    open('azure', { baseUrl: upstream.url + path, apiVersion, speaks: ['responses'] });
    const form = responses.native;
    if (form === null) throw new Error('Responses have a native form.');
    const native = { form, text: '{"model":"m-1","input":"Say it.","top_logprobs":0}', headers: {} };
    const signal = new AbortController().signal;
    const answer = await provider.chat({ model: 'm-1', body: { messages }, native, signal });
    expect(answer).toMatchObject({ native: { object: 'response', model: 'm-1' } });
    expect(upstream.requests[0]).toMatchObject({ path: expected, body: { input: 'Say it.' } });
  });

  it('tells of its content filter', async () => {
    open('azure');
    upstream.always({ fault: { kind: 'status', status: 400, param: 'prompt', code: 'content_filter' } });
    expect((await failureOf(chat())).error).toMatchObject({ code: 'content_filter', param: 'prompt' });
  });
});

describe('Gemini', () => {
  it('says in the body of a 429 how long to wait', async () => {
    open('gemini');
    upstream.always({ fault: { kind: 'status', status: 429, retryDelay: '7.5s' } });
    expect(await failureOf(chat())).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7_500 });
  });

  it('shows thoughts and signatures in a stream', async () => {
    open('gemini');
    upstream.always({ thinking: 'Hm.', toolCalls: [{ id: 'c1', name: 'now', pieces: [] }] });
    const { chunks } = await stream({ reasoning: { effort: 'low' } });
    expect(JSON.stringify(chunks)).toContain('"type":"reasoning.summary","summary":"Hm."');
    expect(JSON.stringify(chunks)).toContain('{"google":{"thought_signature":"signature of c1"}}');
    expect(readUsage(chunks.at(-1) ?? null)).toMatchObject({ completionTokens: 11, hidden: 3 });
  });
});

describe('Bedrock', () => {
  const bedrockKey = [{ key: BEDROCK_KEY, weight: 1 }];

  it('takes an API key, which is sent as it is', async () => {
    open('bedrock', { apiKeys: bedrockKey });
    expect(contentOf((await stream()).chunks)).toBe(text);
    expect(upstream.requests[0]?.headers['authorization']).toBe(`Bearer ${BEDROCK_KEY}`);
    expect(upstream.requests[0]?.headers).not.toHaveProperty('x-amz-date');
  });

  it('gets a signature of the model’s name as it is in the URL', async () => {
    open('bedrock');
    const signal = new AbortController().signal;
    await provider.chat({ model: 'global.amazon.nova-v1:0', body: { messages }, signal });
    expect(upstream.requests[0]?.path).toBe('/model/global.amazon.nova-v1%3A0/converse');
  });

  it.each<[string, Partial<UpstreamOptions>]>([
    ['for another region', { signingRegion: 'eu-west-2' }],
    ['with another key', { aws: { ...aws, given: { ...CREDENTIALS, secretAccessKey: 'secret' } } }],
    ['without credentials', { aws: { ...aws, given: null } }],
  ])('lets nobody in who signs %s', async (_, options) => {
    open('bedrock', options);
    expect((await failureOf(chat())).kind).toBe('auth');
  });

  it.each([
    ['throttlingException', 'rate_limited'],
    ['serviceUnavailableException', 'overloaded'],
    ['modelTimeoutException', 'timeout'],
    ['modelStreamErrorException', 'server'],
    ['validationException', 'refused'],
  ])('tells of a %s in a stream', async (type, kind) => {
    open('bedrock');
    upstream.always({ fault: { kind: 'error_event', after: 3, message: 'Not with secret.', type } });
    const got: JsonObject[] = [];
    const read = async (): Promise<void> => {
      const answer = await chat({ stream: true });
      if (answer.kind === 'stream') for await (const { json } of answer.chunks) got.push(json);
    };
    await expect(read()).rejects.toMatchObject({ kind });
    expect(got.length).toBeGreaterThan(0);
  });

  it('is not believed when a checksum is wrong', async () => {
    open('bedrock');
    upstream.always({ fault: { kind: 'garbage', after: 2, bit: true } });
    const answer = await chat({ stream: true });
    const read = async (): Promise<void> => {
      if (answer.kind === 'stream') for await (const { json } of answer.chunks) void json;
    };
    expect((await failureOf(read())).kind).toBe('bad_answer');
  });

  it('shows reasoning with its signature, in a stream too', async () => {
    open('bedrock');
    upstream.always({ thinking: 'Hm.' });
    const answer = await chat();
    expect(answer).toMatchObject({
      usage: { hidden: 'unknown' },
      body: {
        choices: [
          { message: { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }] } },
        ],
      },
    });
    const { chunks } = await stream();
    expect(deltasOf(chunks).flatMap((delta) => delta['reasoning_details'] ?? [])).toEqual([
      { type: 'reasoning.text', text: 'Hm.', index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', index: 0 },
    ]);
  });
});

describe.each(['gemini', 'bedrock'] as const)('a request of another protocol to %s', (kind) => {
  it.each([true, false])('keeps its settings of reasoning if the model reasons: %s', async (reasons) => {
    open(kind);
    const body = { messages, reasoning: { effort: 'high', enabled: true } };
    const call = { model: 'anthropic.m-1', body, translated: { reasons } };
    await provider.chat({ ...call, signal: new AbortController().signal });
    expect(/"think/.test(JSON.stringify(upstream.requests[0]?.body))).toBe(reasons);
  });
});

describe('several keys', () => {
  const keys = ['sk-secret-one', 'sk-secret-two'].map((key) => ({ key, weight: 1 }));
  const keyOf = ({ headers }: UpstreamRequest): string =>
    String(headers['authorization']).slice('Bearer '.length);

  it.each([429, 401, 403])('serve for each other when one gets %i, which then rests', async (status) => {
    open('openai', { apiKeys: keys });
    const message = `sk-secret-one of sk-secret-two`;
    upstream.always((request) =>
      keyOf(request) === 'sk-secret-one' ? { fault: { kind: 'status', status, message } } : {},
    );
    for (let call = 0; call < 4; call += 1) await stream();
    const used = upstream.requests.map(keyOf);
    expect(used.filter((key) => key === 'sk-secret-one')).toHaveLength(1);
    expect(used.filter((key) => key === 'sk-secret-two')).toHaveLength(4);
    upstream.always({ fault: { kind: 'status', status: 400, message } });
    expect((await failureOf(chat())).error).toMatchObject({ message: '… of …' });
  });

  it('rest by the headers of an answer, each alone', async () => {
    open('openai', { apiKeys: keys });
    const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m0s' };
    upstream.play({ headers }, {}, {}, { headers });
    for (let call = 0; call < 3; call += 1) await chat();
    expect(upstream.requests.map(keyOf)).toEqual([keys[0]?.key, keys[1]?.key, keys[1]?.key]);
    expect(provider.limitedMs?.('m-1')).toBe(0);
    await chat();
    expect(provider.limitedMs?.('m-1')).toBeGreaterThan(50_000);
    expect(provider.limitedMs?.('other')).toBe(0);
    expect(contentOf((await stream()).chunks)).toBe(text);
  });
});

describe('where an upstream is', () => {
  it.each(['ftp://example.org', 'https://user:secret@example.org'])('refuses %s', (baseUrl) => {
    expect(() => openProvider('openai', { name: 'up', baseUrl, apiKeys })).toThrow(TypeError);
  });

  it('is told apart from where nobody listens', async () => {
    const gone = await startUpstream();
    await gone.close();
    provider = openProvider('openai', { name: 'up', baseUrl: gone.url, apiKeys });
    opened.push(provider);
    expect((await failureOf(chat())).kind).toBe('unreachable');
  });

  it('carries 500 streams at once, none lost, none reordered', async () => {
    open('openai', { timeouts: defaultTimeouts });
    const pieces = Array.from({ length: 64 }, (_, index) => `${index} `);
    upstream.always({ pieces, everyMs: 20 });
    const all = await Promise.all(Array.from({ length: 500 }, () => stream()));
    expect(new Set(all.map(({ chunks }) => contentOf(chunks)))).toStrictEqual(new Set([pieces.join('')]));
  });
});
