import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createReceipts, createTallystick, type TallystickProvider } from '@tallystick/ai-sdk';
import { canonicalBytes, parseJson, sha256Hex, utf8 } from '@tallystick/core';
import type { CallReport } from '@tallystick/sdk';
import {
  APICallError,
  embed,
  embedMany,
  generateText,
  isStepCount,
  jsonSchema,
  type ProviderMetadata,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultPieces } from '../packages/server/test/upstream-script.ts';
import { expectReceipt, type Front, hashOf, MODEL, STRANGE_KEY, serveFront, streamed } from './clients.ts';

const said = defaultPieces.join('');
const prompt = 'Say it.';
const calls = { toolCalls: [{ id: 'call_1', name: 'weather', pieces: ['{"city":"Zürich"}'] }] };
const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
  execute: () => ({ celsius: 9 }),
});

interface Settings {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

let front: Front;
let tallystick: TallystickProvider;
const reports: CallReport[] = [];
beforeAll(async () => {
  front = await serveFront();
  tallystick = createTallystick({
    baseURL: front.baseURL,
    apiKey: STRANGE_KEY,
    trust: front.trust,
    onCall: (report) => void reports.push(report),
  });
});
afterAll(() => front.close());

const shownIn = (metadata: ProviderMetadata | undefined) => metadata?.['tallystick'];
const covering = (body: unknown) => ({ receipt: { request: { hash: hashOf(body) } } });

it('generateText: the receipt, its verdict and what the call cost', async () => {
  const include = { requestBody: true, responseBody: true };
  const providerOptions = { tallystick: { cost_quality: 3, svc: { session: 's-1' } } };
  const answer = await generateText({ model: tallystick(MODEL), prompt, include, providerOptions });
  expect(answer.text).toBe(said);
  const { request, response } = answer.finalStep;
  expect(JSON.parse(String(request.body))).toMatchObject(providerOptions.tallystick);
  const shown = shownIn(answer.providerMetadata);
  const sent = `sha256:${sha256Hex(canonicalBytes(parseJson(utf8(String(request.body)))))}`;
  await expectReceipt(front, shown, { request: sent, response: hashOf(response.body) });
  expect(shown).toMatchObject({
    receiptId: response.headers?.['x-receipt-id'],
    verdict: { valid: true, issuer: { trusted: true } },
    routing: expect.any(Object),
    billing: { charge: { nano: '6300' } },
  });
});

it('streamText: at the end of the stream', async () => {
  const include = { requestBody: true };
  const result = streamText({ model: tallystick(MODEL), prompt, includeRawChunks: true, include });
  const raw: unknown[] = [];
  for await (const part of result.fullStream) if (part.type === 'raw') raw.push(part.rawValue);
  expect(await result.text).toBe(said);
  const shown = shownIn(await result.providerMetadata);
  const { body } = (await result.finalStep).request;
  const { receipt } = await expectReceipt(front, shown, {
    request: hashOf(body),
    response: streamed(raw).response,
  });
  expect(receipt.call).toMatchObject({ stream: true, complete: true });
  expect(shown).toMatchObject({ verdict: { valid: true, issuer: { trusted: true } } });
});

it('each call its own, when many run at once', async () => {
  const include = { requestBody: true };
  const asked = Array.from({ length: 6 }, async (_, n) => {
    const call = { model: tallystick(MODEL), prompt: `Say ${n}.`, include };
    const result = n % 2 === 0 ? await generateText(call) : streamText(call);
    const { body } = (await result.finalStep).request;
    expect(shownIn(await result.providerMetadata)).toMatchObject(covering(body));
    return body;
  });
  expect(new Set((await Promise.all(asked)).map((body) => hashOf(body))).size).toBe(6);
});

it('each step its own, where tools are called', async () => {
  front.upstream.play(calls, { pieces: ['It is 9 °C.'] });
  const include = { requestBody: true };
  const stopWhen = isStepCount(3);
  const { steps } = await generateText({
    model: tallystick(MODEL),
    prompt,
    tools: { weather },
    stopWhen,
    include,
  });
  expect(steps).toHaveLength(2);
  for (const { request, providerMetadata } of steps)
    expect(shownIn(providerMetadata)).toMatchObject(covering(request.body));
});

it('embed, and embedMany', async () => {
  const model = tallystick.embeddingModel('text-embedding-3-small');
  const one = await embed({ model, value: 'a' });
  const request = { model: 'text-embedding-3-small', input: ['a'], encoding_format: 'float' };
  await expectReceipt(front, shownIn(one.providerMetadata), {
    request: hashOf(request),
    response: hashOf(one.response?.body),
  });
  const many = await embedMany({ model, values: ['a', 'b'] });
  expect(shownIn(many.providerMetadata)).toMatchObject(covering({ ...request, input: ['a', 'b'] }));
});

it('a verdict against an answer that was changed on the way', async () => {
  const changed: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    const text = (await response.text()).replace('Grüße', 'Gruesse');
    return new Response(text, { status: response.status, headers: response.headers });
  };
  const deceived = createTallystick({ baseURL: front.baseURL, trust: front.trust, fetch: changed });
  const { text, providerMetadata } = await generateText({ model: deceived(MODEL), prompt });
  expect(text).toBe(said.replace('Grüße', 'Gruesse'));
  expect(shownIn(providerMetadata)).toMatchObject({ verdict: { valid: false } });
});

it('a stream that breaks off: what came has a receipt', async () => {
  front.upstream.play({ fault: { kind: 'cut', after: 3 } });
  const result = streamText({ model: tallystick(MODEL), prompt, onError: () => {} });
  await result.consumeStream();
  expect(shownIn(await result.providerMetadata)).toMatchObject({ receipt: { call: { complete: false } } });
});

it('errors in the class of the AI SDK', async () => {
  const failing = generateText({ model: tallystick('gpt-99'), prompt, maxRetries: 0 });
  await expect(failing).rejects.toBeInstanceOf(APICallError);
});

it('every report, as it comes', () => {
  expect(reports.length).toBeGreaterThan(10);
  expect(new Set(reports.map(({ receiptId }) => receiptId)).size).toBe(reports.length);
});

it.each([
  ['@ai-sdk/openai', (settings: Settings) => createOpenAI(settings).chat(MODEL)],
  ['@ai-sdk/anthropic', (settings: Settings) => createAnthropic(settings)(MODEL)],
])('the models of %s, by fetch and middleware', async (_, open) => {
  const { fetch, middleware } = createReceipts({ trust: front.trust });
  const baseURL = front.baseURL;
  const model = wrapLanguageModel({ model: open({ baseURL, apiKey: STRANGE_KEY, fetch }), middleware });
  const include = { requestBody: true };
  const { finalStep } = await generateText({ model, prompt, include });
  expect(finalStep.text).toBe(said);
  expect(shownIn(finalStep.providerMetadata)).toMatchObject(covering(finalStep.request.body));
  const stream = streamText({ model, prompt, include });
  const { request, providerMetadata } = await stream.finalStep;
  expect(shownIn(providerMetadata)).toMatchObject(covering(request.body));
  expect(shownIn(providerMetadata)).toMatchObject({ verdict: { valid: true, issuer: { trusted: true } } });
});
