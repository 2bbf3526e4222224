import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { type CallReport, receiptFetch } from '@tallystick/sdk';
import {
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  Output,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import OpenAI, { APIError, BadRequestError, NotFoundError, RateLimitError } from 'openai';
import type { ResponseInputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withModels } from '../packages/server/test/models.ts';
import { startUpstream } from '../packages/server/test/upstream.ts';
import { SEALED } from '../packages/server/test/upstream-responses.ts';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { STRANGE_KEY, serveUntrusted, trustIn, type Untrusted } from './clients.ts';
import { temporaryFolder } from './process.ts';

const said = defaultPieces.join('');
const pieces = ['{"ci', 'ty":"Zü', 'rich"}'];
const calls = { toolCalls: [{ id: 'call_1', name: 'weather', pieces }] };
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;

/** A model whose provider speaks Responses, so that calls pass as they came. */
const DIRECT = 'direct/gpt-x';

let front: Untrusted;
let client: OpenAI;
/** What the clients call through: it changes nothing, and verifies each call. */
let fetch: ReturnType<typeof receiptFetch>;
let reports: CallReport[] = [];
beforeAll(async () => {
  const upstream = await startUpstream();
  const config = join(temporaryFolder(), 'providers.json');
  const models = [
    {
      id: DIRECT,
      context: 128_000,
      max_output: 16_384,
      abilities: ['tools', 'vision', 'json', 'stream'],
      price: { input: '0.15', output: '0.60' },
      prior: { general: 0.5 },
    },
  ];
  const provider = {
    name: 'direct',
    kind: 'openai',
    base_url: `${upstream.url}/v1`,
    speaks: ['responses'],
  };
  writeFileSync(config, JSON.stringify(withModels({ providers: [provider], models })));
  front = await serveUntrusted(
    {
      TALLY_DATA_DIR: temporaryFolder(),
      TALLY_CONFIG: config,
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: 'ak-operator-secret',
    },
    upstream,
  );
  fetch = receiptFetch({ trust: await trustIn(front.url), onCall: (report) => reports.push(report) });
  client = new OpenAI({ baseURL: front.baseURL, apiKey: STRANGE_KEY, fetch });
});
afterAll(() => front.close());

beforeEach(() => {
  reports = [];
});

/** Asserts that so many calls were answered since the test began, each with a receipt that holds for what was sent and came. */
function expectVerified(calls: number): void {
  const verdicts = reports.map(({ protocol, verdict: { valid, issuer, checks } }) => ({
    protocol,
    valid,
    trusted: issuer.trusted,
    failed: checks.filter(({ ok }) => ok === false),
  }));
  const verified = { protocol: 'responses', valid: true, trusted: true, failed: [] };
  expect(verdicts).toEqual(Array.from({ length: calls }, () => verified));
}

/** One model whose provider has the same API, and one whose provider has another. */
describe.each([DIRECT, 'claude-haiku-4-5'])('of %s', (model) => {
  const hasJson = model === DIRECT;

  describe('openai', () => {
    const input = 'Say it.';

    it('in one piece', async () => {
      const answer = await client.responses.create({ model, input, temperature: 0.2 });
      expect(answer.output_text).toBe(said);
      expect(answer.usage).toMatchObject({ input_tokens: 12, output_tokens: 8, total_tokens: 20 });
      expectVerified(1);
    });

    it('streamed', async () => {
      const events = await Array.fromAsync(await client.responses.create({ model, input, stream: true }));
      expect(events.map(deltaOf).join('')).toBe(said);
      expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
      expectVerified(1);
      expect(reports[0]?.receipt).toMatchObject({
        call: { stream: true, complete: true, completion_tokens: 8 },
      });
    });

    it('streamed, gathered by the client’s own helper', async () => {
      const runner = client.responses.stream({ model, input });
      const seen: string[] = [];
      runner.on('response.output_text.delta', ({ delta }) => seen.push(delta));
      expect((await runner.finalResponse()).output_text).toBe(said);
      expect(seen.join('')).toBe(said);
      expectVerified(1);
    });

    it('tools, called and answered', async () => {
      front.upstream.play(calls, { pieces: ['It is 9 °C.'] });
      const tools = [{ type: 'function', name: 'weather', parameters: schema, strict: true } as const];
      const first = await client.responses.create({ model, input, tools });
      expect(first.output).toMatchObject([
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: pieces.join('') },
      ]);
      const next: ResponseInputItem[] = [
        { role: 'user', content: input },
        ...(first.output as ResponseInputItem[]),
        { type: 'function_call_output', call_id: 'call_1', output: '{"celsius":9}' },
      ];
      const second = await client.responses.create({ model, input: next, tools });
      expect(second.output_text).toBe('It is 9 °C.');
      expectVerified(2);
    });

    it.runIf(hasJson)('as JSON, by a schema', async () => {
      front.upstream.play({ pieces: ['{"city":', '"Zürich"}'] });
      const answer = await client.responses.parse({
        model,
        input,
        text: { format: { type: 'json_schema', name: 'place', strict: true, schema } },
      });
      expect(answer.output_parsed).toEqual({ city: 'Zürich' });
    });

    it('errors of its own', async () => {
      const calling = (params: object): Promise<unknown> =>
        client.responses
          .create({ model, input, ...params }, { maxRetries: 0 })
          .catch((thrown: unknown) => thrown);
      const kept = await calling({ previous_response_id: 'resp_1' });
      expect(kept).toBeInstanceOf(BadRequestError);
      expect(kept).toMatchObject({ code: 'state_not_kept', param: 'previous_response_id' });
      expect(await calling({ model: 'gpt-99' })).toBeInstanceOf(NotFoundError);
    });

    it('APIError in a stream whose provider fails', async () => {
      front.upstream.play({ fault: { kind: 'cut', after: 7 } });
      const stream = await client.responses.create({ model, input, stream: true });
      const got: string[] = [];
      const reading = async (): Promise<void> => {
        for await (const event of stream) got.push(deltaOf(event));
      };
      const error = await reading().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(APIError);
      expect(error).toMatchObject({ code: 'provider_failed' });
      expect(got.join('')).not.toBe('');
      expect(said.startsWith(got.join(''))).toBe(true);
    });
  });

  describe('the AI SDK, in its default mode', () => {
    const provider = () => createOpenAI({ baseURL: front.baseURL, apiKey: STRANGE_KEY, fetch })(model);
    const prompt = 'Say it.';
    const place = jsonSchema<{ city: string }>(schema);
    const toolsTo = (asked: string[]): ToolSet => ({
      weather: tool({
        inputSchema: place,
        execute: ({ city }) => {
          asked.push(city);
          return { celsius: 9 };
        },
      }),
    });

    it('generateText', async () => {
      const answer = await generateText({ model: provider(), prompt });
      expect(answer.text).toBe(said);
      expect(answer.usage).toMatchObject({ inputTokens: 12, outputTokens: 8 });
      expectVerified(1);
    });

    it('streamText', async () => {
      const result = streamText({ model: provider(), prompt });
      const text: string[] = [];
      for await (const part of result.fullStream) {
        if (part.type === 'text-delta') text.push(part.text);
        if (part.type === 'error') throw part.error;
      }
      expect(text.join('')).toBe(said);
      expectVerified(1);
    });

    it.each(['in one piece', 'streamed'])('tools, in two steps, %s', async (how) => {
      front.upstream.play(calls, { pieces: ['It is ', '9 °C.'] });
      const asked: string[] = [];
      const options = { model: provider(), prompt, tools: toolsTo(asked), stopWhen: isStepCount(3) };
      const answer = how === 'streamed' ? await streamText(options).text : (await generateText(options)).text;
      expect(answer).toBe('It is 9 °C.');
      expect(asked).toEqual(['Zürich']);
      expectVerified(2);
    });

    it.runIf(hasJson)('structured output', async () => {
      front.upstream.play({ pieces: ['{"city":', '"Zürich"}'] });
      const output = Output.object({ schema: place });
      expect((await generateText({ model: provider(), prompt, output })).output).toEqual({ city: 'Zürich' });
    });

    it.each(['generated', 'streamed'])('goes on with its own text by reference, %s', async (how) => {
      const first = { model: provider(), prompt };
      const result = how === 'streamed' ? streamText(first) : await generateText(first);
      const messages: ModelMessage[] = [
        { role: 'user', content: prompt },
        ...(await result.responseMessages),
        { role: 'user', content: 'Again.' },
      ];
      expect((await generateText({ model: provider(), messages })).text).toBe(said);
      expect(JSON.stringify(front.upstream.requests.at(-1)?.body)).toContain(said);
      expectVerified(2);
    });

    it('calls a tool after a text', async () => {
      const asked: string[] = [];
      front.upstream.play({ ...calls, pieces: ['Let me look.'] }, { pieces: ['It is 9 °C.'] });
      const options = { model: provider(), prompt, tools: toolsTo(asked), stopWhen: isStepCount(3) };
      expect((await generateText(options)).text).toBe('It is 9 °C.');
      expect(JSON.stringify(front.upstream.requests.at(-1)?.body)).toContain('Let me look.');
      expectVerified(2);
    });

    it.each(['generated', 'streamed'])('goes on with its reasoning, %s', async (how) => {
      front.upstream.play({ thinking: 'Hm.' });
      const first = { model: provider(), prompt };
      const result = how === 'streamed' ? streamText(first) : await generateText(first);
      const messages: ModelMessage[] = [
        { role: 'user', content: prompt },
        ...(await result.responseMessages),
        { role: 'user', content: 'Again.' },
      ];
      expect((await generateText({ model: provider(), messages })).text).toBe(said);
      const sealed = model === DIRECT ? SEALED : 'c2ln';
      expect(JSON.stringify(front.upstream.requests.at(-1)?.body)).toContain(sealed);
      expectVerified(2);
    });

    it('is told what to do where an item is no longer kept', async () => {
      const { responseMessages } = await generateText({ model: provider(), prompt });
      const lost = JSON.parse(JSON.stringify(responseMessages).replaceAll('msg_', 'gone_')) as ModelMessage[];
      const messages: ModelMessage[] = [{ role: 'user', content: prompt }, ...lost];
      const refused = await generateText({ model: provider(), messages }).catch((thrown: unknown) => thrown);
      expect(refused).toBeInstanceOf(APICallError);
      expect(refused).toMatchObject({ statusCode: 400, message: expect.stringContaining('`store: false`') });
    });

    it('keeps nothing where it is told not to', async () => {
      front.upstream.play({ pieces: ['Kept nowhere.'] });
      const providerOptions = { openai: { store: false } };
      const { responseMessages } = await generateText({ model: provider(), prompt, providerOptions });
      const messages: ModelMessage[] = [
        { role: 'user', content: prompt },
        ...responseMessages,
        { role: 'user', content: 'Again.' },
      ];
      expect((await generateText({ model: provider(), messages, providerOptions })).text).toBe(said);
      await expect(generateText({ model: provider(), messages })).rejects.toThrow('no longer');
    });
  });

  describe('LangChain', () => {
    const chat = (fields: ChatOpenAIFields = {}): ChatOpenAI =>
      new ChatOpenAI({
        model,
        apiKey: STRANGE_KEY,
        maxRetries: 0,
        useResponsesApi: true,
        configuration: { baseURL: front.baseURL, fetch },
        ...fields,
      });
    const weather = langchainTool(async ({ city }: { city: string }) => `9 °C in ${city}`, {
      name: 'weather',
      description: 'The weather',
      schema,
    });

    it('invoke', async () => {
      const message = await chat().invoke('Say it.');
      expect(message.text).toBe(said);
      expect(message.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 8 });
      expectVerified(1);
    });

    it('stream', async () => {
      const chunks = await Array.fromAsync(await chat().stream('Say it.'));
      expect(chunks.map(({ text }) => text).join('')).toBe(said);
      const whole = chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk(''));
      expect(whole.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 8 });
      expectVerified(1);
    });

    it.each(['invoked', 'streamed'])('tools, called and answered, %s', async (how) => {
      front.upstream.play(calls, { pieces: ['It is 9 °C.'] });
      const bound = chat().bindTools([weather]);
      const question = new HumanMessage('Weather?');
      const asked =
        how === 'streamed'
          ? (await Array.fromAsync(await bound.stream([question]))).reduce((sum, chunk) => sum.concat(chunk))
          : await bound.invoke([question]);
      const [call] = asked.tool_calls ?? [];
      expect(call).toMatchObject({ id: 'call_1', name: 'weather', args: { city: 'Zürich' } });
      const result = new ToolMessage({ tool_call_id: call?.id ?? '', content: '9 °C in Zürich' });
      expect((await bound.invoke([question, asked, result])).text).toBe('It is 9 °C.');
      expectVerified(2);
    });

    it.runIf(hasJson)('structured output', async () => {
      front.upstream.play({ pieces: ['{"city":', '"Zürich"}'] });
      const bound = chat().withStructuredOutput(schema, { name: 'place', method: 'jsonSchema' });
      expect(await bound.invoke('Where?')).toEqual({ city: 'Zürich' });
    });

    it('errors of the client beneath it', async () => {
      const refused = await chat({ model: 'gpt-99' })
        .invoke('x')
        .catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ status: 404, code: 'model_not_found' });
    });
  });
});

/** Each of a model of its own, because a model that wants no more rests. */
describe('of a provider that wants no more', () => {
  beforeEach(() => {
    front.upstream.play({ fault: { kind: 'status', status: 429, retryAfter: '3600' } });
  });

  it('openai has its error for it, and when to come back', async () => {
    const limited = await client.responses
      .create({ model: 'gpt-4o', input: 'Say it.' }, { maxRetries: 0 })
      .catch((thrown: unknown) => thrown);
    expect(limited).toBeInstanceOf(RateLimitError);
    expect((limited as RateLimitError).headers.get('retry-after')).toBe('3600');
  });

  it('the AI SDK has its own', async () => {
    const model = createOpenAI({ baseURL: front.baseURL, apiKey: STRANGE_KEY })('claude-sonnet-4-5');
    const busy = await generateText({ model, prompt: 'Say it.', maxRetries: 0 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(busy).toBeInstanceOf(APICallError);
    expect(busy).toMatchObject({ statusCode: 429, isRetryable: true });
  });
});

function deltaOf(event: ResponseStreamEvent): string {
  return event.type === 'response.output_text.delta' ? event.delta : '';
}
