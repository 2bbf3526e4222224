import type { JsonObject } from '@tallystick/core';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import type { ChatAnswer, StreamChunk } from '../providers/provider.ts';
import { isUsageChunk } from '../providers/usage.ts';
import type { Reported, Usage } from '../types.ts';
import { localCards } from './cards.ts';
import { openLocalProvider } from './local.ts';

/** What was counted. */
function counted(usage: Reported): Usage {
  if (usage === null || usage === 'malformed') throw new Error('Nothing was counted.');
  return usage;
}

const provider = openLocalProvider();
const fact = 'The ferry leaves Korsund at 6:15. Tickets cost 12 euros.';
const messages = [{ role: 'user', content: `${fact} How much do tickets cost?` }];
const signal = new AbortController().signal;

const chat = (body: JsonObject, model = 'extract-1'): Promise<ChatAnswer> =>
  provider.chat({ model, body: { messages, ...body }, signal });

async function complete(body: JsonObject) {
  const answer = await chat(body);
  if (answer.kind !== 'complete') throw new Error('It streamed.');
  return answer;
}

async function chunks(body: JsonObject): Promise<StreamChunk[]> {
  const answer = await chat({ ...body, stream: true });
  if (answer.kind !== 'stream') throw new Error('It did not stream.');
  const list: StreamChunk[] = [];
  for await (const chunk of answer.chunks) list.push(chunk);
  return list;
}

type Chunk = { choices: { index: number; delta: { content?: string }; finish_reason: string | null }[] };
const choicesOf = (list: StreamChunk[]) => list.flatMap(({ json }) => (json as unknown as Chunk).choices);

describe('local/extract-1', () => {
  it('answers as an OpenAI chat.completion', async () => {
    const { body, usage } = await complete({});
    expect(body).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: 'extract-1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Tickets cost 12 euros.' },
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: counted(usage).promptTokens,
        completion_tokens: counted(usage).completionTokens,
      },
    });
    expect(usage).toEqual({
      promptTokens: 3 + 3 + countTokens('user') + countTokens(messages[0]?.content ?? ''),
      completionTokens: countTokens('Tickets cost 12 euros.'),
      cachedTokens: 0,
      estimated: false,
    });
  });

  it('streams the same, word by word', async () => {
    const whole = await complete({});
    const list = await chunks({});
    const choices = choicesOf(list);
    const texts = choices.map(({ delta }) => delta.content ?? '');
    expect(texts.join('')).toBe('Tickets cost 12 euros.');
    expect(texts.filter((text) => text !== '')).toEqual(['Tickets', ' cost', ' 12', ' euros.']);
    expect(choices.map((choice) => choice.finish_reason).filter((reason) => reason !== null)).toEqual([
      'stop',
    ]);
    expect(list.filter(({ json }) => isUsageChunk(json))).toEqual([list.at(-1)]);
    expect(list.at(-1)?.json['usage']).toEqual(whole.body['usage']);
    for (const { text, json } of list) expect(JSON.parse(text)).toEqual(json);
  });

  it('gives n choices, which are alike, and counts each', async () => {
    const one = await complete({});
    const { body, usage } = await complete({ n: 3 });
    const choices = body['choices'] as { index: number; message: object }[];
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(choices.map(({ message }) => JSON.stringify(message))).size).toBe(1);
    expect(counted(usage).completionTokens).toBe(3 * (counted(one.usage).completionTokens ?? 0));
    const streamed = choicesOf(await chunks({ n: 2 }));
    for (const index of [0, 1]) {
      const own = streamed.filter((choice) => choice.index === index);
      expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe('Tickets cost 12 euros.');
    }
  });

  it('keeps to max_tokens and stop', async () => {
    const cut = await complete({ max_tokens: 2 });
    expect(cut.body).toMatchObject({
      choices: [{ message: { content: 'Tickets cost' }, finish_reason: 'length' }],
    });
    expect(counted(cut.usage).completionTokens).toBe(2);
    const newer = await complete({ max_tokens: 50, max_completion_tokens: 1 });
    expect(counted(newer.usage).completionTokens).toBe(1);
    const stopped = await complete({ stop: ' 12' });
    expect(stopped.body).toMatchObject({
      choices: [{ message: { content: 'Tickets cost' }, finish_reason: 'stop' }],
    });
  });

  it('answers with JSON', async () => {
    const { body } = await complete({ response_format: { type: 'json_object' } });
    const [choice] = body['choices'] as { message: { content: string } }[];
    expect(JSON.parse(choice?.message.content ?? '')).toEqual({
      answer: 'Tickets cost 12 euros.',
      sentences: ['Tickets cost 12 euros.'],
    });
  });

  it('reads parts, and leaves tools alone that it may leave alone', async () => {
    const parts = [
      { type: 'text', text: fact },
      { type: 'text', text: 'How much do tickets cost?' },
    ];
    const tools = [{ type: 'function', function: { name: 'price' } }];
    const { body } = await complete({
      messages: [{ role: 'user', content: parts }],
      tools,
      tool_choice: 'auto',
    });
    expect(body).toMatchObject({ choices: [{ message: { content: 'Tickets cost 12 euros.' } }] });
  });

  it.each<[string, JsonObject]>([
    ['messages', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] }],
    ['messages', { messages: [{ role: 'pilot', content: 'x' }] }],
    ['messages', { messages: [{ role: 'user', content: 'word '.repeat(40_000) }] }],
    ['messages', { messages: [{ role: 'user', content: ' '.repeat(1_000_000) }] }],
    ['n', { n: 0 }],
    ['n', { n: 1_000 }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_completion_tokens', { max_completion_tokens: 1.5 }],
    ['stop', { stop: [1] }],
    ['logprobs', { logprobs: true }],
    ['tool_choice', { tool_choice: 'required' }],
    ['response_format', { response_format: { type: 'json_schema', json_schema: { name: 'x' } } }],
  ])('refuses what it cannot do: %s', async (param, body) => {
    await expect(chat(body)).rejects.toMatchObject({ kind: 'refused', status: 400, error: { param } });
  });

  it('refuses another model', async () => {
    await expect(chat({}, 'embed-512')).rejects.toMatchObject({ kind: 'gone', status: 404 });
  });

  it('stops when its call is aborted', async () => {
    const abort = new AbortController();
    const answer = await provider.chat({
      model: 'extract-1',
      body: { messages, stream: true },
      signal: abort.signal,
    });
    if (answer.kind !== 'stream') throw new Error('It did not stream.');
    let seen = 0;
    const read = async (): Promise<void> => {
      for await (const _ of answer.chunks) if (++seen === 2) abort.abort();
    };
    await expect(read()).rejects.toMatchObject({ kind: 'aborted' });
    expect(seen).toBe(2);
    const again = provider.chat({ model: 'extract-1', body: { messages }, signal: abort.signal });
    await expect(again).rejects.toMatchObject({ kind: 'aborted' });
  });

  it('says what its models are', () => {
    expect(localCards.map(({ id }) => id)).toEqual(['local/extract-1', 'local/embed-512']);
    for (const card of localCards) {
      expect(card.id).toBe(`local/${card.name}`);
      expect(card).toMatchObject({ license: 'Apache-2.0', hardware: 'cpu' });
    }
  });
});
