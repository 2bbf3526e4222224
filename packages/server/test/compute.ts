import { canonicalize, type JsonObject, sha256Hex, utf8 } from '@tallystick/core';
import { expect } from 'vitest';
import type { AccountBalance } from '../../ledger/src/ledger-store.ts';
import { MODELS_FILE } from './models.ts';
import {
  type Reply,
  startTestService,
  type TestService,
  type TestServiceOptions,
  toReply,
} from './service.ts';
import { startUpstream, type Upstream } from './upstream.ts';

export const CHAT = '/v1/compute/chat/completions';
/** 0.15 and 0.6 USDC for a million tokens, cached ones 0.075. */
export const MODEL = 'openai/gpt-4o-mini';
export const messages = [{ role: 'user', content: 'Say it.' }];

/** A service on a loopback port, in front of a local upstream that speaks OpenAI's and Anthropic's formats. */
export interface Routed {
  readonly upstream: Upstream;
  readonly service: TestService;
  readonly url: string;
  /** Through the socket, as a client does it. */
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Response>;
  chat(body?: JsonObject, headers?: Record<string, string>): Promise<Reply>;
  stream(body?: JsonObject, headers?: Record<string, string>): Promise<Streamed>;
  balance(account: string): Promise<AccountBalance>;
  /** Resolves once every process has heard that a model rests. */
  rests(model: string): Promise<void>;
  /** Asserts that the books balance and that nothing is put aside any more. */
  expectBalanced(): Promise<void>;
  close(): Promise<void>;
}

interface Streamed {
  readonly status: number;
  readonly headers: Headers;
  /** Every `data:` payload, in order. */
  readonly payloads: string[];
  /** Of the last chunk that carries it. */
  readonly svc: Svc | null;
}

export interface Svc {
  readonly receipt: JsonObject & {
    receipt_id: string;
    request: { hash: string; origin: string | null };
    response: { hash: string };
    call: JsonObject;
    settlement: JsonObject;
  };
  readonly routing: JsonObject;
  readonly served: { model: string; failed_tries: JsonObject[] };
  /** `usage` is there with `svc.explain` alone. */
  readonly billing: JsonObject & { charge: { nano: string; usdc: string }; usage: JsonObject };
}

/** Short enough for tests of what takes too long, long enough for a busy machine. */
export const IMPATIENT = {
  TALLY_FIRST_BYTE_TIMEOUT_MS: '1000',
  TALLY_ANSWER_TIMEOUT_MS: '1000',
  TALLY_IDLE_TIMEOUT_MS: '1000',
};

interface RoutedOptions extends Omit<TestServiceOptions, 'env'> {
  /** Given the upstream's URL if it is a function. */
  readonly env?: NodeJS.ProcessEnv | ((url: string) => NodeJS.ProcessEnv);
  /** Whether `chat` and `stream` ask for the whole explanation; false by default. */
  readonly explain?: boolean;
}

export async function startRouted({
  env = {},
  explain = false,
  ...options
}: RoutedOptions = {}): Promise<Routed> {
  const upstream = await startUpstream();
  const service = await startTestService({
    ...options,
    env: {
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: 'sk-operator-secret',
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: 'ak-operator-secret',
      TALLY_CONFIG: MODELS_FILE,
      ...(typeof env === 'function' ? env(upstream.url) : env),
    },
  });
  const url = await service.listen();
  const post: Routed['post'] = (path, body, headers = {}, signal) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  const { ledger } = service.services.store;
  const asked = (body: JsonObject = {}): JsonObject => ({
    model: MODEL,
    messages,
    ...body,
    ...(explain && { svc: { explain, ...(body['svc'] as JsonObject | undefined) } }),
  });
  return {
    upstream,
    service,
    url,
    post,
    chat: async (body, headers) => toReply(await post(CHAT, asked(body), headers)),
    async stream(body, headers) {
      const response = await post(CHAT, { stream: true, ...asked(body) }, headers);
      const payloads = payloadsOf(await response.text());
      return { status: response.status, headers: response.headers, payloads, svc: svcIn(payloads) };
    },
    balance: (account) => ledger.balance(account),
    async rests(name) {
      for (const { compute } of service.processes) {
        const { catalogue, health } = compute.pipeline;
        const model = catalogue.find(name);
        await expect.poll(() => model && health.available(model), { interval: 20 }).toBe(false);
      }
    },
    async expectBalanced() {
      expect(await ledger.checkBalanced()).toMatchObject({ sum: 0n, faults: [] });
      // Each process holds a slice of a balance until a second after its last call.
      await expect.poll(async () => (await ledger.balance('development')).reserved).toBe(0n);
    },
    async close() {
      await service.close();
      await upstream.close();
    },
  };
}

/** The `data:` payload of each event of a stream. */
export function payloadsOf(text: string): string[] {
  return text
    .split('\n\n')
    .map((event) => event.split('\n').filter((line) => line.startsWith('data: ')))
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.slice('data: '.length)).join('\n'));
}

export function svcIn(payloads: readonly string[]): Svc | null {
  const text = payloads.findLast((payload) => payload.includes('"svc"'));
  return text === undefined ? null : ((JSON.parse(text) as { svc: Svc }).svc ?? null);
}

export function svcOf(reply: Reply): Svc {
  return reply.json['svc'] as unknown as Svc;
}

/** As spec/compute.md defines it, of an answer in one piece. */
export function answerHash({ json }: Reply): string {
  const { svc: _svc, ...answer } = json;
  return `sha256:${sha256Hex(utf8(canonicalize(answer)))}`;
}

/** As spec/compute.md defines it, of a stream. */
export function streamHash(payloads: readonly string[]): string {
  const end = payloads.findIndex((payload) => payload.includes('"svc"'));
  const { svc: _svc, ...last } = JSON.parse(payloads[end] ?? '{}') as JsonObject;
  const hashed = last['usage'] === undefined ? [] : [canonicalize(last)];
  const covered = [...payloads.slice(0, end), ...hashed].map((payload) => `${payload}\n`);
  return `sha256:${sha256Hex(utf8(covered.join('')))}`;
}

export function requestHash(body: JsonObject): string {
  return `sha256:${sha256Hex(utf8(canonicalize(body)))}`;
}

export function textIn(payloads: readonly string[]): string {
  return payloads
    .filter((payload) => payload !== '[DONE]' && !payload.startsWith('{"error"'))
    .map((payload) => JSON.parse(payload) as { choices: { delta: { content?: string } }[] })
    .flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''))
    .join('');
}
