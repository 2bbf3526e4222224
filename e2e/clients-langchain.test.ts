import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields, OpenAIEmbeddings } from '@langchain/openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { expectReceipt, type Front, hashOf, MODEL, STRANGE_KEY, serveFront } from './clients.ts';

const said = defaultPieces.join('');
const pieces = ['{"ci', 'ty":"Zü', 'rich"}'];
const calls = { toolCalls: [{ id: 'call_1', name: 'weather', pieces }] };
const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;

let front: Front;
beforeAll(async () => {
  front = await serveFront();
});
afterAll(() => front.close());

const chat = (fields: ChatOpenAIFields = {}): ChatOpenAI =>
  new ChatOpenAI({
    model: MODEL,
    apiKey: STRANGE_KEY,
    maxRetries: 0,
    configuration: { baseURL: front.baseURL },
    ...fields,
  });

interface RawAnswer {
  readonly svc: unknown;
}

it('invoke', async () => {
  const message = await chat({ __includeRawResponse: true }).invoke('Say it.');
  expect(message.content).toBe(said);
  expect(message.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 8 });
  const raw = message.additional_kwargs['__raw_response'] as RawAnswer;
  await expectReceipt(front, raw.svc, { request: front.sentHash(), response: hashOf(raw) });
});

it('stream', async () => {
  const chunks = await Array.fromAsync(await chat().stream('Say it.'));
  expect(chunks.map(({ text }) => text).join('')).toBe(said);
  const whole = chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk(''));
  expect(whole.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 8 });
});

const weather = tool(async ({ city }: { city: string }) => `9 °C in ${city}`, {
  name: 'weather',
  description: 'The weather',
  schema: place,
});

it('tools, called and answered', async () => {
  front.upstream.play(calls, { pieces: ['It is 9 °C.'] });
  const model = chat().bindTools([weather]);
  const question = new HumanMessage('Weather?');
  const asked = await model.invoke([question]);
  const [call] = asked.tool_calls ?? [];
  expect(call).toMatchObject({ id: 'call_1', name: 'weather', args: { city: 'Zürich' } });
  const result = new ToolMessage({
    tool_call_id: call?.id ?? '',
    content: '9 °C in Zürich',
  });
  expect((await model.invoke([question, asked, result])).content).toBe('It is 9 °C.');
  expect(front.upstream.requests.at(-1)?.body['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
    { role: 'tool', tool_call_id: 'call_1', content: '9 °C in Zürich' },
  ]);
});

it('tools, streamed', async () => {
  front.upstream.play(calls);
  const chunks = await Array.fromAsync(await chat().bindTools([weather]).stream('Weather?'));
  const whole = chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk(''));
  expect(whole.tool_calls).toMatchObject([{ id: 'call_1', name: 'weather', args: { city: 'Zürich' } }]);
});

it('structured output', async () => {
  front.upstream.play({ pieces: ['{"city":', '"Zürich"}'] });
  const model = chat().withStructuredOutput(place, { name: 'place', method: 'jsonSchema' });
  expect(await model.invoke('Where?')).toEqual({ city: 'Zürich' });
});

it('embeddings, of the upstream and built in', async () => {
  const embeddings = (model: string): OpenAIEmbeddings =>
    new OpenAIEmbeddings({ model, apiKey: STRANGE_KEY, configuration: { baseURL: front.baseURL } });
  expect(await embeddings('text-embedding-3-small').embedDocuments(['a', 'b'])).toEqual([
    [0.5, -0.25, 0.125],
    [0.5, -0.25, 0.125],
  ]);
  expect(await embeddings('local/embed-512').embedQuery('a')).toHaveLength(512);
});

it('errors of the client beneath it', async () => {
  const refused = await chat({ model: 'gpt-99' })
    .invoke('x')
    .catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ status: 404, code: 'model_not_found' });
});
