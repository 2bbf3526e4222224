import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText } from 'ai';
import OpenAI, { APIError, AuthenticationError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, STRANGE_KEY } from './clients.ts';
import { type ProductionFront, serveProduction } from './production-front.ts';

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Say it.' }];

describe('in production', () => {
  let front: ProductionFront;
  beforeAll(async () => {
    front = await serveProduction();
  });
  afterAll(() => front.close());

  const ask = (apiKey: string): Promise<OpenAI.ChatCompletion> =>
    new OpenAI({ baseURL: front.baseURL, apiKey }).chat.completions.create({ model: MODEL, messages });

  it('a strange key, and one that was never given out, is an AuthenticationError', async () => {
    for (const apiKey of [STRANGE_KEY, `k_pro_${'0'.repeat(32)}`]) {
      const error = await ask(apiKey).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AuthenticationError);
      expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' });
    }
    expect(front.upstream.requests).toHaveLength(0);
  });

  it('a key without balance is refused as one without quota, and never tried again', async () => {
    const { key } = await front.customer(null);
    const error = await ask(key).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 402, code: 'insufficient_quota' });
    expect(front.upstream.requests).toHaveLength(0);
  });

  it('a key with balance is served and billed, by each client alike', async () => {
    const { key, id } = await front.customer('1');
    const { baseURL } = front;
    await ask(key);
    const provider = createOpenAICompatible({ name: 'tallystick', baseURL, apiKey: key });
    await generateText({ model: provider(MODEL), prompt: 'Say it.' });
    await new ChatOpenAI({ model: MODEL, apiKey: key, configuration: { baseURL } }).invoke('Say it.');
    expect(await front.balance(id)).toBe(1_000_000_000n - 3n * 6_300n);
  });
});
