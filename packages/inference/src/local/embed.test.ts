import { type JsonObject, type JsonValue, sha256Hex } from '@tallystick/core';
import { describe, expect, it } from 'vitest';
import type { Reported, Usage } from '../types.ts';
import { embedTexts } from './embed.ts';

/** What was counted. */
function counted(usage: Reported): Usage {
  if (usage === null || usage === 'malformed') throw new Error('Nothing was counted.');
  return usage;
}

const live = new AbortController().signal;
const embed = (input: JsonValue, rest: JsonObject = {}, signal = live) =>
  embedTexts({ model: 'embed-512', body: { input, ...rest }, signal });

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

  it('knows a word it has never met by its parts, and words that say nothing by themselves', async () => {
    const [a, b, c] = await vectors(['tallystick', 'tallysticks', 'quernstone']);
    expect(cosine(a, b)).toBeGreaterThan(cosine(a, c) + 0.2);
    const [only] = await vectors('What is it?');
    expect(cosine(only, only)).toBeCloseTo(1, 5);
  });

  it('gives the same numbers on every machine', async () => {
    const [vector = []] = await vectors('The harbour master signed for 12 crates of quernstones.');
    const bytes = new Uint8Array(Float32Array.from(vector).buffer);
    expect(sha256Hex(bytes)).toBe('9fd05e53f06ee6701e9081701c210b70d0a046085a0daeff479a7635e800ae62');
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
    let turns = 0;
    let ended = false;
    const turn = (): void => {
      turns += 1;
      if (!ended) setImmediate(turn);
    };
    setImmediate(turn);
    const texts = Array.from(
      { length: 800 },
      (_, index) => `Sentence ${index} is about the harbour and its boats.`,
    );
    await embed(texts).finally(() => (ended = true));
    // The loop turns after every sixteen texts.
    expect(turns).toBeGreaterThanOrEqual(800 / 16);
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
});
