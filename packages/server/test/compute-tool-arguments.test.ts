import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, type Routed, startRouted } from './compute.ts';
import type { ScriptedToolCall } from './upstream-script.ts';

const CLAUDE = 'anthropic/claude-haiku-4-5';
const parameters = { type: 'object', properties: { city: { type: 'string' } } };

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted();
});
afterAll(() => routed.close());

const members = (text: string, type: string): JsonObject[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)]
    .map(([, data = '']) => JSON.parse(data) as JsonObject)
    .filter((event) => type === '' || event['type'] === type);

interface Asking {
  readonly path: string;
  readonly body: JsonObject;
  /** The text of the one call's arguments in a stream, or in an answer in one piece. */
  readonly streamed: (text: string) => unknown;
  readonly whole: (answer: never) => unknown;
}

const messages = [{ role: 'user', content: 'Call it.' }];
const protocols = {
  responses: {
    path: '/v1/compute/responses',
    body: { input: 'Call it.', tools: [{ type: 'function', name: 'weather', parameters }] },
    streamed: (text) => members(text, 'response.function_call_arguments.done')[0]?.['arguments'],
    whole: ({ output }: { output: JsonObject[] }) => output[0]?.['arguments'],
  },
  messages: {
    path: '/v1/compute/messages',
    body: { max_tokens: 100, messages, tools: [{ name: 'weather', input_schema: parameters }] },
    streamed: (text) =>
      members(text, 'content_block_delta')
        .map(({ delta }) => (delta as { partial_json?: string }).partial_json)
        .join('') || '{}',
    whole: ({ content }: { content: JsonObject[] }) => JSON.stringify(content[0]?.['input']),
  },
  chat: {
    path: '/v1/compute/chat/completions',
    body: { messages, tools: [{ type: 'function', function: { name: 'weather', parameters } }] },
    streamed: (text) =>
      members(text, '')
        .flatMap(
          ({ choices }) => choices as { delta: { tool_calls?: { function: { arguments?: string } }[] } }[],
        )
        .map(({ delta }) => delta.tool_calls?.[0]?.function.arguments ?? '')
        .join(''),
    whole: ({ choices }: { choices: [{ message: { tool_calls: [{ function: JsonObject }] } }] }) =>
      choices[0].message.tool_calls[0].function['arguments'],
  },
} satisfies Record<string, Asking>;

const call = { id: 'c1', name: 'weather', pieces: [] };
const given: [what: string, call: ScriptedToolCall, text: string][] = [
  ['an object', { ...call, object: { city: 'Rome' } }, '{"city":"Rome"}'],
  ['nothing', call, '{}'],
];

describe.each(given)('a tool call whose provider gives %s as arguments', (_what, toolCall, text) => {
  const asked: [protocol: keyof typeof protocols, model: string][] = [
    ['responses', MODEL],
    ['messages', MODEL],
    ['responses', CLAUDE],
    ['chat', CLAUDE],
  ];
  it.each(asked)('has them as JSON text for %s, from %s', async (protocol, model) => {
    const { path, body, streamed, whole }: Asking = protocols[protocol];
    routed.upstream.play({ toolCalls: [toolCall] });
    const stream = await routed.post(path, { ...body, model, stream: true });
    expect(streamed(await stream.text())).toBe(text);
    // Anthropic's answers in one piece always hold an object.
    routed.upstream.play({ toolCalls: [model === CLAUDE ? { ...toolCall, pieces: [text] } : toolCall] });
    const answer = await routed.post(path, { ...body, model });
    expect(whole((await answer.json()) as never)).toBe(text);
  });
});
