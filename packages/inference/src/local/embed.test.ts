import type { JsonObject, JsonValue } from '@tallystick/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { Reported, Usage } from '../types.ts';
import { embedTexts } from './embed.ts';
import { EmbedThread } from './embed-thread.ts';
import { openLocalProvider } from './local.ts';

/** What was counted. */
function counted(usage: Reported): Usage {
  if (usage === null || usage === 'malformed') throw new Error('Nothing was counted.');
  return usage;
}

const thread = new EmbedThread();
afterAll(() => thread.close());

const live = new AbortController().signal;
const embed = (input: JsonValue, rest: JsonObject = {}, signal = live) =>
  embedTexts(thread, { model: 'embed-512', body: { input, ...rest }, signal });

type Item = { index: number; embedding: number[] };

async function vectors(input: JsonValue): Promise<number[][]> {
  const { body } = await embed(input);
  const items = body['data'] as unknown as Item[];
  expect(items.map(({ index }) => index)).toEqual(items.map((_, index) => index));
  return items.map(({ embedding }) => embedding);
}

const cosine = (a: number[] = [], b: number[] = []): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

describe('local/embed-512', () => {
  it('starts no thread before it is needed', () => {
    expect(new EmbedThread().running).toBe(false);
  });

  it.each([
    ['How old are you?', 'What is your age?', 'The stock market fell today.'],
    ['The cat sat on the mat.', 'A cat was sitting on a rug.', 'Interest rates rose by half a percent.'],
    ['My laptop will not start.', 'The computer does not turn on.', 'We had pasta for dinner.'],
  ])('has %j closer to its paraphrase than to another subject', async (text, paraphrase, other) => {
    const [a, b, c] = await vectors([text, paraphrase, other]);
    expect(a).toHaveLength(512);
    expect(cosine(a, a)).toBeCloseTo(1, 5);
    expect(cosine(a, b)).toBeGreaterThan(cosine(a, c) + 0.2);
  });

  it('gives the same for the same, alone or among others', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `Parcel ${index} left the depot on Tuesday.`);
    const all = await vectors(texts);
    expect(all).toHaveLength(40);
    const [alone] = await vectors(texts[21] ?? '');
    expect(cosine(alone, all[21])).toBeCloseTo(1, 5);
    expect(cosine(alone, all[3])).toBeLessThan(0.9999);
  });

  it('answers in OpenAI’s form, and in base64', async () => {
    const { body, usage } = await embed('The ferry leaves\n at six.');
    const [item] = body['data'] as unknown as Item[];
    expect(body).toMatchObject({
      object: 'list',
      model: 'embed-512',
      data: [{ object: 'embedding', index: 0 }],
    });
    expect(counted(usage).promptTokens).toBeGreaterThan(4);
    expect(body['usage']).toMatchObject({
      prompt_tokens: counted(usage).promptTokens,
      total_tokens: counted(usage).promptTokens,
    });
    const coded = await embed('The ferry leaves at six.', { encoding_format: 'base64' });
    const [{ embedding }] = coded.body['data'] as unknown as [{ embedding: string }];
    const bytes = Buffer.from(embedding, 'base64');
    expect(Array.from({ length: 512 }, (_, index) => bytes.readFloatLE(index * 4))).toEqual(item?.embedding);
  });

  it.each<[string, JsonValue, JsonObject]>([
    ['input', null, {}],
    ['input', [], {}],
    ['input', '  ', {}],
    ['input', ['fine', ''], {}],
    ['input', [1, 2, 3], {}],
    ['input', [[1, 2]], {}],
    ['input', Array.from({ length: 2_049 }, () => 'a'), {}],
    ['input', 'a'.repeat(16_385), {}],
    ['input', Array.from({ length: 70 }, () => 'ab '.repeat(5_400)), {}],
    ['input', 'word '.repeat(2_100), {}],
    ['input', ['fine', '日本語のテキスト'], {}],
    ['dimensions', 'fine', { dimensions: 256 }],
    ['encoding_format', 'fine', { encoding_format: 'hex' }],
  ])('refuses %s: %#', async (param, input, rest) => {
    await expect(embed(input, rest)).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
      error: { param },
    });
  });

  it('says which text is at fault', async () => {
    const input = [...Array.from({ length: 20 }, () => 'fine'), '日本語'];
    const error = { message: expect.stringContaining('Text 20 ') as string };
    await expect(embed(input)).rejects.toMatchObject({ error });
  });

  it('does not hold up the event loop', async () => {
    let longest = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const started = performance.now();
    await embed(
      Array.from({ length: 64 }, (_, index) => `Sentence ${index} is about the harbour and its boats.`),
    );
    const took = performance.now() - started;
    clearInterval(beat);
    expect(longest).toBeLessThan(Math.max(took / 2, 100));
  });

  it('stops when its call is aborted', async () => {
    const abort = new AbortController();
    const many = Array.from({ length: 500 }, (_, index) => `Line ${index} of a long list.`);
    const call = embed(many, {}, abort.signal);
    abort.abort();
    await expect(call).rejects.toMatchObject({ kind: 'aborted' });
    await expect(embed('x', {}, abort.signal)).rejects.toMatchObject({ kind: 'aborted' });
    await expect(embed('After it.')).resolves.toBeDefined();
  });

  it('turns away what would wait too long', async () => {
    const calls = Array.from({ length: 300 }, (_, index) => embed(`Call ${index}.`));
    const outcomes = await Promise.allSettled(calls);
    const failed = outcomes
      .filter((outcome) => outcome.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    expect(failed).toHaveLength(44);
    expect(failed[0]).toMatchObject({ kind: 'overloaded', status: 503 });
  });
});

describe('the thread', () => {
  it('ends when nothing has come for a while, and starts again', async () => {
    const short = new EmbedThread(1);
    const task = { texts: ['One.'], mostTokens: 10 };
    await short.run(task);
    while (short.running) await new Promise((resolve) => setImmediate(resolve));
    await expect(short.run(task)).resolves.toMatchObject({ kind: 'vectors' });
    await short.close();
    expect(short.running).toBe(false);
  });

  it('ends with its provider, and fails what waits', async () => {
    const provider = openLocalProvider();
    const embedding = provider.embed?.({ model: 'embed-512', body: { input: 'Late.' }, signal: live });
    const [outcome] = await Promise.allSettled([embedding, provider.close()]);
    expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'server' } });
    await expect(
      provider.embed?.({ model: 'embed-512', body: { input: 'Later.' }, signal: live }),
    ).rejects.toMatchObject({ kind: 'server' });
    await provider.close();
  });
});
