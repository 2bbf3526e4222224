import { ChatAnthropic } from '@langchain/anthropic';
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { type RunReceipt, TallystickCallbackHandler } from '@tallystick/langchain';
import type { CallReport } from '@tallystick/sdk';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Script } from '../packages/server/test/upstream.ts';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { type Front, MODEL, STRANGE_KEY, serveFront } from './clients.ts';

const said = defaultPieces.join('');

let front: Front;
let handler: TallystickCallbackHandler;
let runs: RunReceipt[];
let reports: CallReport[];
let answers = 0;
beforeAll(async () => {
  front = await serveFront();
  // As providers do, every answer has an id of its own.
  front.upstream.always(() => answerWithId());
});
beforeEach(() => {
  runs = [];
  reports = [];
  handler = new TallystickCallbackHandler({
    trust: front.trust,
    onReceipt: (receipt) => void runs.push(receipt),
    onCall: (report) => void reports.push(report),
  });
});
afterAll(() => front.close());

function answerWithId(script: Script = {}): Script {
  answers += 1;
  return { ...script, members: { id: `chatcmpl-${answers}` } };
}

const chat = (model = MODEL): ChatOpenAI =>
  new ChatOpenAI({
    model,
    apiKey: STRANGE_KEY,
    maxRetries: 0,
    configuration: { baseURL: front.baseURL, fetch: handler.fetch },
    callbacks: [handler],
  });

const checked = { verdict: { valid: true, issuer: { trusted: true } } };

it('invoke: the run has its receipt, and so has the message', async () => {
  const message = await chat().invoke('Say it.', { runId: '018f4e2a-0000-7000-8000-000000000001' });
  expect(message.content).toBe(said);
  expect(runs).toMatchObject([{ runId: '018f4e2a-0000-7000-8000-000000000001', ...checked }]);
  expect(message.response_metadata['tallystick']).toBe(runs[0]);
  expect(runs[0]?.receipt?.['call']).toMatchObject({ stream: false, complete: true });
  expect(runs[0]?.svc).toMatchObject({ routing: {}, billing: { charge: { nano: '6300' } } });
});

it('stream: the run has its receipt when the stream has ended', async () => {
  const chunks = await Array.fromAsync(await chat().stream('Say it.'));
  expect(chunks.map(({ text }) => text).join('')).toBe(said);
  expect(runs).toMatchObject([{ receipt: { call: { stream: true, complete: true } }, ...checked }]);
});

it('batch: each run its own, in parallel', async () => {
  const words = ['one', 'two', 'three', 'four', 'five'];
  // The answers come in another order than the questions went.
  front.upstream.always(({ body }) => {
    const word = JSON.stringify(body['messages']).match(/one|two|three|four|five/)?.[0] ?? '';
    return answerWithId({ pieces: [word], everyMs: 5 * words.indexOf(word) });
  });
  const messages = await chat().batch(words.map((word) => `Say ${word}.`));
  front.upstream.always(() => answerWithId());
  expect(runs).toHaveLength(5);
  const receipts = messages.map(({ response_metadata }) => response_metadata['tallystick'] as RunReceipt);
  expect(new Set(receipts)).toEqual(new Set(runs));
  expect(receipts.map(({ answerId }) => answerId)).toEqual(messages.map(({ id }) => id));
  expect(new Set(receipts.map(({ runId }) => runId)).size).toBe(5);
  for (const receipt of receipts) expect(receipt).toMatchObject(checked);
});

it('streams side by side, each its own', async () => {
  const ends = await Promise.all(
    ['one', 'two', 'three'].map(async (word) => {
      const chunks = await Array.fromAsync(await chat().stream(word));
      return chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk('')).id;
    }),
  );
  expect(new Set(runs.map(({ answerId }) => answerId))).toEqual(new Set(ends));
});

it('in a chain, by the run of the model and that of the chain', async () => {
  const chain = ChatPromptTemplate.fromMessages([['user', 'Say {what}.']]).pipe(chat());
  await chain.invoke({ what: 'it' }, { runId: '018f4e2a-0000-7000-8000-000000000002', callbacks: [handler] });
  expect(runs).toMatchObject([{ parentRunId: '018f4e2a-0000-7000-8000-000000000002' }]);
});

it('tools: a receipt for each call of the model', async () => {
  front.upstream.play(
    () => answerWithId({ toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"city":"Zürich"}'] }] }),
    () => answerWithId({ pieces: ['It is 9 °C.'] }),
  );
  const schema = { type: 'object', properties: { city: { type: 'string' } } } as const;
  const weather = tool(() => '9 °C', { name: 'weather', description: 'The weather', schema });
  const model = chat().bindTools([weather]);
  const question = new HumanMessage('Weather?');
  const asked = await model.invoke([question]);
  const result = new ToolMessage({ tool_call_id: asked.tool_calls?.[0]?.id ?? '', content: '9 °C' });
  expect((await model.invoke([question, asked, result])).content).toBe('It is 9 °C.');
  expect(runs).toMatchObject([checked, checked]);
});

it('a stream that breaks off: its run has a receipt for what came', async () => {
  front.upstream.play(() => answerWithId({ fault: { kind: 'cut', after: 3 } }));
  await expect(Array.fromAsync(await chat().stream('Say it.'))).rejects.toThrow(/provider/);
  await expect.poll(() => runs).toHaveLength(1);
  expect(runs[0]?.receiptId).toMatch(/^r_/);
});

it('no run gets the receipt of another, where answers have the same id', async () => {
  front.upstream.play(...Array.from({ length: 2 }, () => ({ members: { id: 'chatcmpl-same' } })));
  const both = Promise.withResolvers<void>();
  handler = new TallystickCallbackHandler({
    onReceipt: (receipt) => void runs.push(receipt),
    // No answer ends before both are there.
    onCall: (report) => {
      if (reports.push(report) === 2) both.resolve();
      return both.promise;
    },
  });
  await chat().batch(['one', 'two']);
  expect(reports.map(({ answerId }) => answerId)).toEqual(['chatcmpl-same', 'chatcmpl-same']);
  expect(runs).toEqual([]);
});

it('embeddings, which have no run, are reported as calls', async () => {
  const configuration = { baseURL: front.baseURL, fetch: handler.fetch };
  await new OpenAIEmbeddings({ model: 'local/embed-512', apiKey: STRANGE_KEY, configuration }).embedQuery(
    'a',
  );
  expect(reports).toMatchObject([checked]);
  expect(runs).toEqual([]);
});

it('ChatAnthropic: in one piece and as a stream', async () => {
  const claude = new ChatAnthropic({
    model: MODEL,
    apiKey: STRANGE_KEY,
    anthropicApiUrl: front.baseURL,
    clientOptions: { fetch: handler.fetch },
    callbacks: [handler],
  });
  const message = await claude.invoke('Say it.');
  expect(message.text).toBe(said);
  const chunks = await Array.fromAsync(await claude.stream('Say it.'));
  expect(chunks.map(({ text }) => text).join('')).toBe(said);
  expect(runs).toMatchObject([
    { protocol: 'messages', receipt: { call: { stream: false } }, ...checked },
    { protocol: 'messages', receipt: { call: { stream: true } }, ...checked },
  ]);
  expect(message.response_metadata['tallystick']).toBe(runs[0]);
});

it('errors of the client beneath it', async () => {
  await expect(chat('gpt-99').invoke('x')).rejects.toMatchObject({ status: 404 });
  expect(runs).toEqual([]);
});
