import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  embedMany,
  generateText,
  isStepCount,
  jsonSchema,
  Output,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { expectReceipt, type Front, hashOf, MODEL, STRANGE_KEY, serveFront, streamed } from './clients.ts';

const said = defaultPieces.join('');
const prompt = 'Say it.';
const pieces = ['{"ci', 'ty":"Zü', 'rich"}'];
const calls = { toolCalls: [{ id: 'call_1', name: 'weather', pieces }] };
const place = jsonSchema<{ city: string }>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
});

let front: Front;
let provider: ReturnType<typeof createOpenAICompatible>;
beforeAll(async () => {
  front = await serveFront();
  provider = createOpenAICompatible({
    name: 'tallystick',
    baseURL: front.baseURL,
    apiKey: STRANGE_KEY,
    supportsStructuredOutputs: true,
  });
});
afterAll(() => front.close());

const svcIn = (body: unknown): unknown => (body as { svc?: unknown }).svc;

it('generateText', async () => {
  const include = { requestBody: true, responseBody: true };
  const answer = await generateText({ model: provider(MODEL), prompt, include });
  expect(answer.text).toBe(said);
  expect(answer.usage).toMatchObject({ inputTokens: 12, outputTokens: 8 });
  const { request, response } = answer.finalStep;
  await expectReceipt(front, svcIn(response.body), {
    request: hashOf(request.body),
    response: hashOf(response.body),
  });
});

it('streamText', async () => {
  const include = { requestBody: true };
  const result = streamText({ model: provider(MODEL), prompt, includeRawChunks: true, include });
  const raw: unknown[] = [];
  const text: string[] = [];
  for await (const part of result.fullStream) {
    if (part.type === 'raw') raw.push(part.rawValue);
    if (part.type === 'text-delta') text.push(part.text);
    if (part.type === 'error') throw part.error;
  }
  expect(text.join('')).toBe(said);
  const { svc, response } = streamed(raw);
  const { body } = (await result.finalStep).request;
  const { receipt } = await expectReceipt(front, svc, { request: hashOf(body), response });
  expect(receipt.call).toMatchObject({ stream: true, complete: true });
});

const toolsTo = (asked: string[]): ToolSet => ({
  weather: tool({
    inputSchema: place,
    execute: ({ city }) => {
      asked.push(city);
      return { celsius: 9 };
    },
  }),
});

it('tools, in two steps', async () => {
  front.upstream.play(calls, { pieces: ['It is 9 °C.'] });
  const asked: string[] = [];
  const { text, steps } = await generateText({
    model: provider(MODEL),
    prompt,
    tools: toolsTo(asked),
    stopWhen: isStepCount(3),
  });
  expect(text).toBe('It is 9 °C.');
  expect(asked).toEqual(['Zürich']);
  expect(steps).toHaveLength(2);
  const { body } = front.upstream.requests.at(-1) ?? {};
  expect(body?.['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'weather' } }] },
    { role: 'tool', tool_call_id: 'call_1', content: '{"celsius":9}' },
  ]);
});

it('tools, streamed', async () => {
  front.upstream.play(calls, { pieces: ['It is ', '9 °C.'] });
  const asked: string[] = [];
  const result = streamText({
    model: provider(MODEL),
    prompt,
    tools: toolsTo(asked),
    stopWhen: isStepCount(3),
  });
  expect(await result.text).toBe('It is 9 °C.');
  expect(asked).toEqual(['Zürich']);
});

it('structured output', async () => {
  front.upstream.play({ pieces: ['{"city":', '"Zürich"}'] });
  const output = Output.object({ schema: place });
  const answer = await generateText({ model: provider(MODEL), prompt, output });
  expect(answer.output).toEqual({ city: 'Zürich' });
  expect(front.upstream.requests.at(-1)?.body['response_format']).toMatchObject({ type: 'json_schema' });
});

it('embedMany, with the upstream and built in', async () => {
  const upstream = await embedMany({
    model: provider.embeddingModel('text-embedding-3-small'),
    values: ['a', 'b'],
  });
  expect(upstream.embeddings).toEqual([
    [0.5, -0.25, 0.125],
    [0.5, -0.25, 0.125],
  ]);
  const [body] = upstream.responses?.map((response) => response?.body) ?? [];
  await expectReceipt(front, svcIn(body), { request: front.sentHash(), response: hashOf(body) });
  const local = await embedMany({ model: provider.embeddingModel('local/embed-512'), values: ['a'] });
  expect(local.embeddings[0]).toHaveLength(512);
});

it('an aborted stream stops the upstream', async () => {
  front.upstream.play({ pieces: Array.from({ length: 500 }, () => 'word '), everyMs: 10 });
  const hungUp = front.upstream.hungUp();
  const controller = new AbortController();
  const { textStream } = streamText({
    model: provider(MODEL),
    prompt,
    abortSignal: controller.signal,
    onAbort: () => {},
  });
  const first = await textStream[Symbol.asyncIterator]().next();
  expect(first.value).toBe('word ');
  controller.abort();
  expect(await hungUp).toBeGreaterThan(0);
});

it('errors in its own class, told apart by status', async () => {
  const failing = (model: string) => generateText({ model: provider(model), prompt, maxRetries: 0 });
  const error = await failing('gpt-99').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(APICallError);
  expect(error).toMatchObject({
    statusCode: 404,
    isRetryable: false,
    message: expect.stringContaining('gpt-99'),
  });
  front.upstream.play({ fault: { kind: 'status', status: 429, retryAfter: '3600' } });
  const busy = await failing(MODEL).catch((thrown: unknown) => thrown);
  expect(busy).toMatchObject({ statusCode: 429, isRetryable: true });
});
