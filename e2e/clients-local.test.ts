import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embed, generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectReceipt, hashOf, STRANGE_KEY, streamed, trustIn } from './clients.ts';
import { type Served, serve, temporaryFolder } from './process.ts';

const text =
  'The Medici bank was founded in Florence in 1397. Its tally sticks are lost. The weather was mild that year.';
const prompt = `${text}\n\nWhen was the Medici bank founded?`;
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: prompt }];
const model = 'auto';

describe('with nothing configured', () => {
  let service: Served;
  let baseURL: string;
  beforeAll(async () => {
    service = await serve({ TALLY_DATA_DIR: temporaryFolder(), TALLY_DEVNET: 'off' });
    baseURL = `${service.url}/v1/compute`;
  });
  afterAll(() => service.kill('SIGTERM'));

  it('openai', async () => {
    const client = new OpenAI({ baseURL, apiKey: STRANGE_KEY });
    const trust = await trustIn(service.url);
    const answer = await client.chat.completions.create({ model, messages });
    expect(answer.choices[0]?.message.content).toContain('1397');
    const { svc } = answer as unknown as { svc: unknown };
    const hashes = { request: hashOf({ model, messages }), response: hashOf(answer) };
    const { receipt, billing } = await expectReceipt({ trust }, svc, hashes);
    expect(receipt).toMatchObject({
      operator: { entity: expect.stringMatching(/^did:svc:local-[0-9a-f]{8}$/) },
      call: { provider: 'local', model: 'local/extract-1' },
    });
    expect(billing.charge.nano).toBe('0');
    const params = { model, messages, stream: true } as const;
    const chunks = await Array.fromAsync(await client.chat.completions.create(params));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toContain('1397');
    const end = streamed(chunks);
    await expectReceipt({ trust }, end.svc, { request: hashOf(params), response: end.response });
    const { data } = await client.embeddings.create({ model, input: text });
    expect(data[0]?.embedding).toHaveLength(512);
    const models = await Array.fromAsync(client.models.list());
    expect(models.map(({ id }) => id).toSorted()).toEqual(['local/embed-512', 'local/extract-1']);
  });

  it('the AI SDK', async () => {
    const provider = createOpenAICompatible({ name: 'tallystick', baseURL, apiKey: STRANGE_KEY });
    expect((await generateText({ model: provider(model), prompt })).text).toContain('1397');
    expect(await streamText({ model: provider(model), prompt }).text).toContain('1397');
    const { embedding } = await embed({ model: provider.embeddingModel(model), value: text });
    expect(embedding).toHaveLength(512);
  });

  it('LangChain', async () => {
    const means = { model, apiKey: STRANGE_KEY, configuration: { baseURL } };
    expect((await new ChatOpenAI(means).invoke(prompt)).text).toContain('1397');
    const chunks = await Array.fromAsync(await new ChatOpenAI(means).stream(prompt));
    expect(chunks.map((chunk) => chunk.text).join('')).toContain('1397');
    expect(await new OpenAIEmbeddings(means).embedQuery(text)).toHaveLength(512);
  });
});
