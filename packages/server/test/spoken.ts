import { canonicalize, type JsonObject, sha256Hex, utf8 } from '@tallystick/core';
import { expect } from 'vitest';
import { CHAT, messages, textIn } from './compute.ts';

/** A protocol that callers speak, for tests that hold for each. */
export interface Spoken {
  readonly name: 'chat' | 'completions' | 'responses' | 'messages';
  readonly path: string;
  /** A request for whatever the upstream says, without `model` and `stream`. */
  readonly request: JsonObject;
  /** Whether `svc` comes in a chunk of its own, after the end of the answer. */
  readonly endsApart: boolean;
  /** The text of a stream. @param payloads of its events, `[DONE]` and the events of a failure included */
  readonly textOf: (payloads: readonly string[]) => string;
  /** The end of a stream that broke off: what its events are, and the event with `svc` the last of them. */
  readonly brokenBy: (code: string) => object[];
  /** What a refusal is in the protocol's own form, beside the problem document. */
  readonly refusedBy: (code: string) => JsonObject;
}

/** The protocols of OpenAI that end in a chunk of their own and `[DONE]`. */
function ofChunks(name: 'chat' | 'completions', object: string) {
  return {
    name,
    endsApart: true,
    brokenBy: (code: string) => [
      { error: expect.objectContaining({ type: expect.any(String), code: openAiCode(code) }) },
      { object, choices: [], svc: {} },
    ],
    refusedBy: (code: string) => ({ error: { code: openAiCode(code), message: expect.any(String) } }),
  };
}

const openAiCode = (code: string): string =>
  code === 'provider_rate_limited' ? 'rate_limit_exceeded' : code;

const anthropicError = (code: string): JsonObject =>
  expect.objectContaining({ type: expect.any(String), details: { error_code: code } });

export const SPOKEN: readonly Spoken[] = [
  {
    ...ofChunks('chat', 'chat.completion.chunk'),
    path: CHAT,
    request: { messages },
    textOf: textIn,
  },
  {
    ...ofChunks('completions', 'text_completion'),
    path: '/v1/compute/completions',
    request: { prompt: 'Say it.', max_tokens: 8192 },
    textOf: (payloads) =>
      objectsIn(payloads)
        .flatMap((data) => (data['choices'] ?? []) as { text: string }[])
        .map(({ text }) => text)
        .join(''),
  },
  {
    name: 'responses',
    path: '/v1/compute/responses',
    request: { input: 'Say it.', max_output_tokens: 8192 },
    endsApart: false,
    textOf: (payloads) =>
      objectsIn(payloads)
        .filter(({ type }) => type === 'response.output_text.delta')
        .map(({ delta }) => (typeof delta === 'string' ? delta : ''))
        .join(''),
    brokenBy: (code) => [
      { type: 'error', code: openAiCode(code) },
      {
        type: 'response.failed',
        response: expect.objectContaining({ status: 'failed', error: expect.objectContaining({}) }),
      },
    ],
    refusedBy: (code) => ({ error: { code: openAiCode(code), message: expect.any(String) } }),
  },
  {
    name: 'messages',
    path: '/v1/compute/messages',
    request: { messages, max_tokens: 8192 },
    endsApart: false,
    textOf: (payloads) =>
      objectsIn(payloads)
        .map((data) => (data['delta'] as { text?: string } | undefined)?.text ?? '')
        .join(''),
    brokenBy: (code) => [{ type: 'error', error: anthropicError(code) }],
    refusedBy: (code) => ({ type: 'error', error: anthropicError(code), request_id: expect.any(String) }),
  },
];

export function objectsIn(payloads: readonly string[]): JsonObject[] {
  return payloads.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one) as JsonObject);
}

/** The response hash of a stream, as spec/compute.md defines it for its protocol. */
export function spokenHash({ endsApart }: Pick<Spoken, 'endsApart'>, payloads: readonly string[]): string {
  const end = payloads.findIndex((payload) => payload.includes('"svc"'));
  const covered = payloads.slice(0, end < 0 ? payloads.length : end);
  if (end >= 0 && !endsApart) {
    const { svc: _svc, ...last } = JSON.parse(payloads[end] ?? '') as JsonObject;
    covered.push(canonicalize(last));
  }
  return `sha256:${sha256Hex(utf8(covered.map((one) => `${one}\n`).join('')))}`;
}
