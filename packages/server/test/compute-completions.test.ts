import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  answerHash,
  MODEL,
  payloadsOf,
  type Routed,
  requestHash,
  startRouted,
  streamHash,
  svcIn,
  svcOf,
} from './compute.ts';
import { toReply } from './service.ts';
import { defaultPieces } from './upstream-script.ts';

const COMPLETIONS = '/v1/compute/completions';
const said = defaultPieces.join('');
const prompt = 'Say it.';

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted();
});
afterAll(() => routed.close());
beforeEach(() => {
  routed.upstream.requests.length = 0;
});

const complete = async (body: JsonObject = {}, headers: Record<string, string> = {}) =>
  toReply(await routed.post(COMPLETIONS, { model: MODEL, prompt, ...body }, headers));

async function stream(body: JsonObject = {}) {
  const sent = { model: MODEL, prompt, stream: true, ...body };
  const response = await routed.post(COMPLETIONS, sent);
  const payloads = payloadsOf(await response.text());
  return { response, payloads, svc: svcIn(payloads), sent };
}

it('answers in its own form, and is billed and receipted as chat is', async () => {
  const reply = await complete({ temperature: 0.5, max_tokens: 100, svc: { session: 's' } });
  expect(reply.status, reply.text).toBe(200);
  const { receipt, billing } = svcOf(reply);
  const { svc: _svc, ...answer } = reply.json;
  expect(answer).toEqual({
    id: `cmpl-${receipt.receipt_id}`,
    object: 'text_completion',
    created: expect.any(Number),
    model: MODEL,
    choices: [{ text: said, index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: expect.objectContaining({ prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 }),
  });
  expect(billing.charge.nano).toBe('6300');
  expect(receipt).toMatchObject({
    request: {
      hash: requestHash({ model: MODEL, prompt, temperature: 0.5, max_tokens: 100, svc: { session: 's' } }),
    },
    response: { hash: answerHash(reply) },
  });
  expect(routed.upstream.requests[0]?.body).toEqual({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: prompt }],
    temperature: 0.5,
    max_tokens: 100,
  });
  await routed.expectBalanced();
});

it('asks for 16 tokens where the caller sets no limit, and takes an array of one prompt', async () => {
  await complete({ prompt: [prompt] });
  expect(routed.upstream.requests[0]?.body).toMatchObject({
    messages: [{ role: 'user', content: prompt }],
    max_tokens: 16,
  });
});

it('gives each choice, and the log probabilities in the older form', async () => {
  const content = [
    { token: 'No', logprob: -0.5, top_logprobs: [{ token: 'No', logprob: -0.5 }] },
    { token: 'w', logprob: -1, top_logprobs: [{ token: 'w', logprob: -1 }] },
  ];
  const choice = { message: { role: 'assistant', content: 'Now' }, logprobs: { content } };
  routed.upstream.play({
    answer: { choices: [0, 1].map((index) => ({ ...choice, index, finish_reason: 'stop' })) },
  });
  const { json } = await complete({ n: 2, logprobs: 1, max_tokens: 5 });
  expect(routed.upstream.requests[0]?.body).toMatchObject({ n: 2, logprobs: true, top_logprobs: 1 });
  const logprobs = {
    tokens: ['No', 'w'],
    token_logprobs: [-0.5, -1],
    top_logprobs: [{ No: -0.5 }, { w: -1 }],
    text_offset: [0, 2],
  };
  expect(json['choices']).toEqual(
    [0, 1].map((index) => ({ text: 'Now', index, logprobs, finish_reason: 'stop' })),
  );
});

it('has the text of a content that its provider gives in parts', async () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'Now' },
    { type: 'text', text: ' then.' },
  ];
  routed.upstream.play({ answer: { choices: [{ index: 0, message: { content }, finish_reason: 'stop' }] } });
  const { json } = await complete({ max_tokens: 50 });
  expect(json['choices']).toMatchObject([{ text: 'Now then.' }]);
});

it('streams its own chunks, then svc, then the end', async () => {
  const { response, payloads, svc, sent } = await stream();
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(payloads.at(-1)).toBe('[DONE]');
  const chunks = payloads.slice(0, -1).map((payload) => JSON.parse(payload) as JsonObject);
  for (const chunk of chunks) expect(chunk).toMatchObject({ object: 'text_completion', model: MODEL });
  const choices = chunks.flatMap(
    (chunk) => chunk['choices'] as { text: string; finish_reason: string | null }[],
  );
  expect(choices.map(({ text }) => text)).toEqual([...defaultPieces, '']);
  expect(choices.at(-1)?.finish_reason).toBe('stop');
  expect(chunks.at(-1)).toMatchObject({ choices: [], svc: {} });
  expect(svc?.receipt).toMatchObject({
    receipt_id: response.headers.get('x-receipt-id'),
    request: { hash: requestHash(sent) },
    response: { hash: streamHash(payloads) },
    call: { stream: true, complete: true, completion_tokens: 8 },
  });
  await routed.expectBalanced();
});

it('streams the usage where it is asked for', async () => {
  const { payloads, svc } = await stream({ stream_options: { include_usage: true } });
  expect(JSON.parse(payloads.at(-2) ?? '')).toMatchObject({ choices: [], usage: { total_tokens: 20 } });
  expect(svc?.receipt.response.hash).toBe(streamHash(payloads));
});

it('is answered once under an Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'completion-1' };
  const first = await complete({}, headers);
  const second = await complete({}, headers);
  expect(second.text).toBe(first.text);
  expect(routed.upstream.requests).toHaveLength(1);
  expect((await complete({ n: 2 }, headers)).json).toMatchObject({ code: 'idempotency_key_reused' });
});

it.each([
  ['echo', { echo: true }],
  ['suffix', { suffix: ' there' }],
  ['best_of', { best_of: 3 }],
  ['tools', { tools: [] }],
  ['prompt', { prompt: [1, 2] }],
  ['prompt', { prompt: [[1], [2]] }],
  ['prompt', { prompt: ['a', 'b'] }],
  ['prompt', { prompt: 7 }],
  ['logprobs', { logprobs: 6 }],
])('refuses %s by name: %j', async (field, body) => {
  const reply = await complete(body);
  expect(reply.status).toBe(400);
  expect(reply.json).toMatchObject({
    code: 'invalid_request',
    field,
    error: { param: field, type: 'invalid_request_error', message: expect.any(String) },
  });
  expect(routed.upstream.requests).toHaveLength(0);
});

it('takes members that change nothing', async () => {
  expect((await complete({ echo: false, suffix: null, best_of: 1, logprobs: null })).status).toBe(200);
});
