import { createAnthropic } from '@ai-sdk/anthropic';
import Anthropic, { APIError, BadRequestError, NotFoundError, RateLimitError } from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { canonicalize, type JsonObject, sha256Hex, utf8 } from '@tallystick/core';
import { APICallError, generateText, isStepCount, jsonSchema, streamText, type ToolSet, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { CLAUDE, expectReceipt, type Front, hashOf, MODEL, STRANGE_KEY, serveFront } from './clients.ts';

const said = defaultPieces.join('');
const prompt = 'Say it.';
const calls = { toolCalls: [{ id: 'toolu_1', name: 'weather', pieces: ['{"ci', 'ty":"Zü', 'rich"}'] }] };
const place = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
/** A model of each client's own to be refused by, since a model that limits calls rests. */
const BUSY = { sdk: 'gpt-4.1', aiSdk: 'gpt-4.1-mini', langchain: 'gpt-4.1-nano' } as const;
const limited = { fault: { kind: 'status', status: 429, retryAfter: '3600' } } as const;

let front: Front;
let client: Anthropic;
beforeAll(async () => {
  front = await serveFront();
  client = new Anthropic({ baseURL: front.baseURL, apiKey: STRANGE_KEY, maxRetries: 0 });
});
afterAll(() => front.close());

/** The hash of a stream whose last event carries `svc` (spec/compute.md). */
function hashOfEvents(events: readonly unknown[]): { svc: unknown; response: string } {
  const { svc, ...last } = events.at(-1) as JsonObject;
  const covered = [...events.slice(0, -1).map((event) => JSON.stringify(event)), canonicalize(last)];
  const response = `sha256:${sha256Hex(utf8(covered.map((text) => `${text}\n`).join('')))}`;
  return { svc, response };
}

describe.each([MODEL, CLAUDE])('@anthropic-ai/sdk with %s', (model) => {
  const head = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: prompt }] };

  it('create', async () => {
    const message = await client.messages.create(head);
    expect(message).toMatchObject({
      content: [{ type: 'text', text: said }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 8 },
    });
    const { svc } = message as unknown as { svc: unknown };
    const { receipt } = await expectReceipt(front, svc, { request: hashOf(head), response: hashOf(message) });
    expect(message).toHaveProperty('_request_id', receipt.receipt_id);
  });

  it('create with stream', async () => {
    const sent = { ...head, stream: true as const };
    const seen = await Array.fromAsync(await client.messages.create(sent));
    expect(seen.at(-1)).toMatchObject({ type: 'message_stop', svc: { receipt: {} } });
    // Its iterator leaves out pings, which the hash covers.
    const text = await (await client.messages.create(sent).asResponse()).text();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, payload = '']): unknown =>
      JSON.parse(payload),
    );
    const { svc, response } = hashOfEvents(events);
    const { receipt } = await expectReceipt(front, svc, { request: hashOf(sent), response });
    expect(receipt.call).toMatchObject({ stream: true, complete: true });
  });

  it('tools, streamed, called and answered', async () => {
    front.upstream.play(calls, { pieces: ['It is ', '9 °C.'] });
    const tools = [{ name: 'weather', input_schema: place }];
    const asked = await client.messages.stream({ ...head, tools }).finalMessage();
    expect(asked).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Zürich' } }],
    });
    const turns = answered(asked.content);
    const stream = client.messages.stream({ ...head, tools, messages: [...head.messages, ...turns] });
    expect(await stream.finalText()).toBe('It is 9 °C.');
  });

  it('an aborted stream stops the upstream', async () => {
    front.upstream.play({ pieces: Array.from({ length: 500 }, () => 'word '), everyMs: 10 });
    const hungUp = front.upstream.hungUp();
    const stream = await client.messages.create({ ...head, stream: true });
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    expect(await hungUp).toBeGreaterThan(0);
  });

  it('a runner of tools, which sends the whole conversation since threads are refused', async () => {
    front.upstream.requests.length = 0;
    front.upstream.play(calls, { pieces: ['It is ', '9 °C.'] });
    const weather = { name: 'weather', description: 'The weather.', input_schema: place };
    const run = ({ city }: { city?: string }): string => `9 °C in ${city}`;
    const parse = (input: unknown): { city?: string } => input as { city?: string };
    const message = await client.beta.messages.toolRunner({ ...head, tools: [{ ...weather, run, parse }] });
    expect(message.content).toMatchObject([{ type: 'text', text: 'It is 9 °C.' }]);
    const sent = front.upstream.requests.map(({ body }) => body);
    expect(sent.map(({ thread }) => thread)).toEqual([undefined, undefined]);
    expect(JSON.stringify(sent[1])).toContain('9 °C in Zürich');
    const thread = client.beta.messages.thread({ model, max_tokens: 100 });
    const refused = await thread.send({ role: 'user', content: prompt }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ status: 400, errorCode: 'thread_unsupported_request' });
  });

  it('errors in its own classes', async () => {
    const failing = (members: JsonObject): Promise<unknown> =>
      client.messages.create({ ...head, ...members }).catch((thrown: unknown) => thrown);
    expect(await failing({ messages: [] })).toBeInstanceOf(BadRequestError);
    const missing = await failing({ model: 'claude-99' });
    expect(missing).toBeInstanceOf(NotFoundError);
    expect(missing).toMatchObject({ type: 'not_found_error', errorCode: 'model_not_found' });
  });
});

/** The turns that follow a call of the tool. */
const answered = (content: Anthropic.ContentBlock[]): Anthropic.MessageParam[] => [
  { role: 'assistant', content },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '9 °C' }] },
];

describe('@anthropic-ai/sdk', () => {
  const head = { model: CLAUDE, max_tokens: 4_000, messages: [{ role: 'user' as const, content: prompt }] };

  it.each([false, true])('thinking that comes back signed, streamed: %s', async (streams) => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 } as const;
    front.upstream.play({ thinking: 'Hm.', ...calls }, {});
    const asked = streams
      ? await client.messages.stream({ ...head, thinking }).finalMessage()
      : await client.messages.create({ ...head, thinking });
    expect(asked.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'tool_use', id: 'toolu_1' },
    ]);
    const turns = answered(asked.content);
    await client.messages.create({ ...head, thinking, messages: [...head.messages, ...turns] });
    expect(front.upstream.requests.at(-1)?.body).toMatchObject({
      thinking,
      messages: [{}, { content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, {}] }, {}],
    });
  });

  it('beta messages, with what coding agents send', async () => {
    const message = await client.beta.messages.create({
      ...head,
      betas: ['context-management-2025-06-27'],
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      thinking: { type: 'adaptive' },
      metadata: { user_id: 'u' },
    });
    expect(message.content).toMatchObject([{ type: 'text', text: said }]);
  });

  it('counts tokens', async () => {
    const { model, messages } = head;
    const { input_tokens: tokens } = await client.messages.countTokens({ model, messages });
    expect(tokens).toBeGreaterThan(0);
  });

  it('a limit of the provider, whose hour the client doesn’t wait out', async () => {
    front.upstream.play(limited);
    const error = await client
      .withOptions({ maxRetries: 2 })
      .messages.create({ ...head, model: BUSY.sdk })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error instanceof APIError && error.headers?.get('retry-after')).toBe('3600');
  });

  it('models', async () => {
    const ids = (await Array.fromAsync(client.models.list({ limit: 3 }))).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([`anthropic/${CLAUDE}`, `openai/${MODEL}`]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(await client.models.retrieve(`anthropic/${CLAUDE}`)).toMatchObject({
      type: 'model',
      id: `anthropic/${CLAUDE}`,
    });
  });
});

describe.each([MODEL, CLAUDE])('@ai-sdk/anthropic with %s', (name) => {
  const model = () => createAnthropic({ baseURL: front.baseURL, apiKey: STRANGE_KEY })(name);

  const toolsTo = (asked: string[]): ToolSet => ({
    weather: tool({
      inputSchema: jsonSchema<{ city: string }>({ ...place, required: ['city'] }),
      execute: ({ city }) => {
        asked.push(city);
        return { celsius: 9 };
      },
    }),
  });

  it('generateText', async () => {
    const include = { requestBody: true, responseBody: true };
    const answer = await generateText({ model: model(), prompt, include, maxOutputTokens: 100 });
    expect(answer.text).toBe(said);
    expect(answer.usage).toMatchObject({ inputTokens: 12, outputTokens: 8 });
    const { request, response } = answer.finalStep;
    const { svc } = response.body as { svc: unknown };
    await expectReceipt(front, svc, { request: hashOf(request.body), response: hashOf(response.body) });
  });

  it('streamText', async () => {
    const result = streamText({ model: model(), prompt, maxOutputTokens: 100 });
    expect(await result.text).toBe(said);
    expect(await result.usage).toMatchObject({ inputTokens: 12, outputTokens: 8 });
  });

  it('tools, in two steps, streamed', async () => {
    front.upstream.play(calls, { pieces: ['It is ', '9 °C.'] });
    const asked: string[] = [];
    const result = streamText({
      model: model(),
      prompt,
      tools: toolsTo(asked),
      stopWhen: isStepCount(3),
      maxOutputTokens: 100,
    });
    expect(await result.text).toBe('It is 9 °C.');
    expect(asked).toEqual(['Zürich']);
  });
});

it('@ai-sdk/anthropic shows thinking', async () => {
  front.upstream.play({ thinking: 'Hm.' });
  const model = createAnthropic({ baseURL: front.baseURL, apiKey: STRANGE_KEY })(CLAUDE);
  const anthropic = { thinking: { type: 'enabled', budgetTokens: 2_000 } };
  const { reasoningText } = await generateText({ model, prompt, providerOptions: { anthropic } });
  expect(reasoningText).toBe('Hm.');
});

it('@ai-sdk/anthropic has errors of its own class', async () => {
  front.upstream.play(limited);
  const model = createAnthropic({ baseURL: front.baseURL, apiKey: STRANGE_KEY })(BUSY.aiSdk);
  const error = await generateText({ model, prompt, maxRetries: 0, maxOutputTokens: 100 }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(APICallError);
  expect(error).toMatchObject({ statusCode: 429, isRetryable: true });
});

describe.each([MODEL, CLAUDE])('@langchain/anthropic with %s', (model) => {
  const chat = (): ChatAnthropic =>
    new ChatAnthropic({
      model,
      apiKey: STRANGE_KEY,
      anthropicApiUrl: front.baseURL,
      maxRetries: 0,
      maxTokens: 100,
    });
  const weather = langchainTool(async ({ city }: { city: string }) => `9 °C in ${city}`, {
    name: 'weather',
    description: 'The weather',
    schema: place,
  });

  it('invoke', async () => {
    const message = await chat().invoke(prompt);
    expect(message.text).toBe(said);
    expect(message.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 8 });
  });

  it('stream', async () => {
    const chunks = await Array.fromAsync(await chat().stream(prompt));
    expect(chunks.map(({ text }) => text).join('')).toBe(said);
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk(''));
    // It adds the count of `message_start`, which Anthropic's streams begin with, to the last one.
    expect(whole.usage_metadata).toMatchObject({ output_tokens: model === CLAUDE ? 9 : 8 });
  });

  it('tools, called and answered', async () => {
    front.upstream.play(calls, { pieces: ['It is 9 °C.'] });
    const withTools = chat().bindTools([weather]);
    const question = new HumanMessage('Weather?');
    const asked = await withTools.invoke([question]);
    const [call] = asked.tool_calls ?? [];
    expect(call).toMatchObject({ id: 'toolu_1', name: 'weather', args: { city: 'Zürich' } });
    const result = new ToolMessage({ tool_call_id: call?.id ?? '', content: '9 °C in Zürich' });
    expect((await withTools.invoke([question, asked, result])).text).toBe('It is 9 °C.');
  });
});

it('@langchain/anthropic has errors of the client beneath it', async () => {
  front.upstream.play(limited);
  const chat = new ChatAnthropic({
    model: BUSY.langchain,
    apiKey: STRANGE_KEY,
    anthropicApiUrl: front.baseURL,
    maxRetries: 0,
    maxTokens: 100,
  });
  const refused = await chat.invoke('x').catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ status: 429 });
});
