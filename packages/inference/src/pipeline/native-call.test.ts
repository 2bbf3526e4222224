import type { JsonObject } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../catalogue/open.ts';
import { chat } from '../protocols/chat.ts';
import type { NativeForm, Protocol } from '../protocols/protocol.ts';
import { badAnswer } from '../providers/failures.ts';
import { readChatRequest } from './chat-request.ts';
import { nativeCallOf } from './native-call.ts';

/** A protocol whose requests are chat's, with its own name for the limit. */
const form: NativeForm = {
  protocol: 'responses',
  modelPaths: [['model']],
  limit: 'max_output_tokens',
  set: { store: false },
  headers: ['x-beta'],
  fits: (body) => body['sealed'] !== true,
  textPlaces: () => [
    { message: 0, part: null, path: ['messages', 0, 'content'] },
    { message: 1, part: 1, path: ['messages', 1, 'content', 1, 'text'] },
  ],
  nativeOnly: (body) => (body['hosted'] === undefined ? [] : ['hosted']),
  innerAnswer: (provider) => {
    throw badAnswer(provider);
  },
  innerStream: (provider) => {
    throw badAnswer(provider);
  },
  errorIn: () => null,
};
const protocol: Protocol = { ...chat, native: form };

const { catalogue } = openCatalogue(
  { OPENAI_API_KEY: 'k' },
  {
    models: [
      {
        id: 'openai/gpt-4o-mini',
        context: 128_000,
        max_output: 16_384,
        abilities: ['stream'],
        price: { input: '0.15', output: '0.6' },
        prior: { general: 0.7 },
        tokenizer: 'o200k',
      },
    ],
  },
);
const model = catalogue.find('openai/gpt-4o-mini');
if (model === null) throw new Error('The model is in this catalogue.');
const SPEAKS = new Set<'responses'>(['responses']);

interface Options {
  readonly speaks?: ReadonlySet<'responses'>;
  /** What compression changed of the inner body. */
  readonly sent?: JsonObject;
}

function callOf(text: string, { speaks = SPEAKS, sent = {} }: Options = {}) {
  const header = (name: string): string => `${name}=1`;
  const request = readChatRequest(JSON.parse(text), catalogue, { protocol, text: () => text, header });
  return nativeCallOf({ defaultMaxOutput: 100 }, request, { ...request.body, ...sent }, { speaks }, model!);
}

const MESSAGES =
  '[{"role":"user","content":"a\\u0062"},{"role":"user","content":[{"type":"x"},{"type":"text","text":"c"}]}]';

describe('a call as its caller wrote it', () => {
  it('keeps all bytes but those that the service changes', () => {
    const text = `{ "svc":{"session":"s"}, "model" : "openai/gpt-4o-mini","messages":${MESSAGES},"provider":{},"temperature":1.0 ,"cost_quality":3 }`;
    expect(callOf(text)).toMatchObject({
      text: `{ "model" : "gpt-4o-mini","messages":${MESSAGES},"temperature":1.0 ,"store":false,"max_output_tokens":100}`,
      headers: { 'x-beta': 'x-beta=1' },
    });
  });

  it('keeps the caller’s limit', () => {
    const text = `{"messages":${MESSAGES},"max_completion_tokens":5}`;
    expect(callOf(text)?.text).toBe(
      `{"messages":${MESSAGES},"max_completion_tokens":5,"store":false,"model":"gpt-4o-mini"}`,
    );
  });

  it('has the texts that compression changed', () => {
    const messages = [
      { role: 'user', content: 'A' },
      { role: 'user', content: [{ type: 'x' }, { type: 'text', text: 'C' }] },
    ];
    const text = `{"messages":${MESSAGES},"max_tokens":5}`;
    expect(callOf(text, { sent: { messages } })?.text).toContain(
      '[{"role":"user","content":"A"},{"role":"user","content":[{"type":"x"},{"type":"text","text":"C"}]}]',
    );
  });

  const body = `{"messages":${MESSAGES}`;
  const moved = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'user', content: [{ type: 'text', text: 'X' }] },
    ],
  };
  it.each<[why: string, text: string, options: Options]>([
    ['the provider does not speak the protocol', `${body}}`, { speaks: new Set<'responses'>() }],
    ['a tool is added', `${body},"svc":{"retrieve":true}}`, {}],
    ['the provider could not read it', `${body},"sealed":true}`, {}],
    ['a changed text has no place', `${body}}`, { sent: moved }],
  ])('is translated where %s', (_, text, options) => {
    expect(callOf(text, options)).toBeUndefined();
  });

  it.each([`${body},"hosted":1,"sealed":true}`, `${body},"hosted":1,"svc":{"retrieve":true}}`])(
    'is refused where a translation would lose something: %s',
    (text) => {
      expect(() => callOf(text)).toThrowError(
        expect.objectContaining({ code: 'invalid_request', field: 'hosted' }),
      );
    },
  );
});
