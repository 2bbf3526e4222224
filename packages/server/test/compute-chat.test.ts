import { type JsonObject, verify } from '@tallystick/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callerAccount } from '../../ledger/src/accounts.ts';
import { creditCaller } from '../../ledger/src/credit.ts';
import {
  answerHash,
  CHAT,
  MODEL,
  messages,
  type Routed,
  requestHash,
  startRouted,
  streamHash,
  svcOf,
  textIn,
} from './compute.ts';
import { expectSchema } from './schemas.ts';
import { apiKey, DATABASES, toReply } from './service.ts';
import { defaultPieces } from './upstream-script.ts';

const said = defaultPieces.join('');

describe.each(DATABASES)('chat over %s', (database) => {
  let routed: Routed;
  beforeAll(async () => {
    routed = await startRouted({ database });
  });
  afterAll(() => routed.close());
  beforeEach(() => {
    routed.upstream.requests.length = 0;
  });

  it('answers with what the provider said, a receipt and a bill', async () => {
    const before = await routed.balance('development');
    const reply = await routed.chat({ temperature: 0.5, user: 'u-1' });
    expect(reply.status).toBe(200);
    const { svc: _svc, ...answer } = reply.json;
    expect(answer).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 12, completion_tokens: 8 },
    });
    const { receipt, billing } = svcOf(reply);
    // 8 prompt tokens at 150 nano-USDC, 4 cached ones at 75, 8 completion tokens at 600.
    expect(billing.charge).toEqual({ nano: '6300', usdc: '0.000006300' });
    expect(billing['account']).toBe('development');
    expect(receipt).toMatchObject({
      request: { hash: requestHash({ model: MODEL, messages, temperature: 0.5, user: 'u-1' }) },
      response: { hash: answerHash(reply), sealed: false },
      operator: { entity: null },
      settlement: { asset: 'USDC', amount: '0.0000063', account: 'development', tx: null },
      call: { model: MODEL, provider: 'openai', complete: true, stream: false, agent_proved: false },
    });
    expectSchema('envelope', receipt);
    expect(reply.headers.get('x-receipt-id')).toBe(receipt.receipt_id);
    expect((await routed.balance('development')).balance).toBe(before.balance - 6300n);
    await routed.expectBalanced();
  });

  it('keeps the receipt, which verifies', async () => {
    const { receipt } = svcOf(await routed.chat());
    const kept = await routed.service.get(`/v1/receipt/${receipt.receipt_id}`);
    expect(kept.json).toEqual(receipt);
    expect((await verify(kept.json, { now: routed.service.clock() })).integrity).toBe(true);
  });

  it('sends the provider its own name of the model and none of the router’s members', async () => {
    await routed.chat({
      svc: { session: 's' },
      provider: { only: ['openai'] },
      cost_quality: 3,
      logit_bias: { '50256': -100 },
    });
    const [request] = routed.upstream.requests;
    expect(request?.body).toEqual({
      model: 'gpt-4o-mini',
      messages,
      logit_bias: { '50256': -100 },
      max_completion_tokens: 8192,
    });
    expect(request?.headers.authorization).toBe('Bearer sk-operator-secret');
  });

  it('leaves a limit of the caller as it is', async () => {
    await routed.chat({ max_tokens: 7 });
    expect(routed.upstream.requests[0]?.body).toEqual({ model: 'gpt-4o-mini', messages, max_tokens: 7 });
  });

  it('streams what the provider said to the byte, then svc, then the end', async () => {
    const { status, headers, payloads, svc } = await routed.stream();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(payloads.at(-1)).toBe('[DONE]');
    expect(textIn(payloads)).toBe(said);
    const last = JSON.parse(payloads.at(-2) ?? '') as JsonObject;
    expect(last).toMatchObject({ id: 'chatcmpl-upstream', object: 'chat.completion.chunk', choices: [] });
    expect(payloads.filter((payload) => payload.includes('"choices":[]'))).toHaveLength(1);
    expect(svc?.receipt).toMatchObject({
      request: { hash: requestHash({ model: MODEL, messages, stream: true }) },
      response: { hash: streamHash(payloads) },
      call: { stream: true, complete: true, completion_tokens: 8 },
    });
    expect(svc?.billing.charge.nano).toBe('6300');
    expect(headers.get('x-receipt-id')).toBe(svc?.receipt.receipt_id);
    await routed.expectBalanced();
  });

  it('passes the usage on where it was asked for, in the last chunk, and the hash covers it', async () => {
    const { payloads, svc } = await routed.stream({ stream_options: { include_usage: true } });
    const usage = JSON.parse(payloads.at(-2) ?? '') as JsonObject;
    expect(usage).toMatchObject({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 8 }, svc: {} });
    expect(payloads.filter((payload) => payload.includes('"usage":{'))).toHaveLength(1);
    expect(svc?.receipt.response.hash).toBe(streamHash(payloads));
  });

  it.each([1, 3])('passes characters and tool arguments on that are split every %d bytes', async (bytes) => {
    const pieces = ['{"te', 'xt":"Grü', 'ße ', '🌍"', '}'];
    const toolCalls = [{ id: 'call_1', name: 'say', pieces }];
    routed.upstream.play({ toolCalls, fault: { kind: 'split', bytes } });
    const tools = [{ type: 'function', function: { name: 'say', parameters: {} } }];
    const { payloads, svc } = await routed.stream({ tools });
    const args = payloads
      .slice(0, -2)
      .flatMap((payload) => JSON.parse(payload).choices)
      .flatMap(({ delta }) => delta.tool_calls ?? [])
      .map((call) => call.function.arguments)
      .join('');
    expect(args).toBe('{"text":"Grüße 🌍"}');
    expect(svc?.receipt.response.hash).toBe(streamHash(payloads));
  });

  it('translates Anthropic’s wire format', async () => {
    const model = 'anthropic/claude-haiku-4-5';
    const reply = await routed.chat({ model });
    expect(reply.json).toMatchObject({ choices: [{ message: { content: said } }] });
    const streamed = await routed.stream({ model });
    expect(textIn(streamed.payloads)).toBe(said);
    expect(streamed.svc?.receipt).toMatchObject({ call: { provider: 'anthropic' } });
  });

  it('bills a prepaid key as long as its balance covers the call; then, in development, the development account', async () => {
    const key = await apiKey(routed.service, 'pro');
    const { store, clock } = routed.service.services;
    let caller = '';
    for await (const { id } of store.apiKeys.list()) caller = id;
    const account = callerAccount(caller);
    await creditCaller(store, { caller, amount: 10_000_000n, reference: 'p-1', memo: 'paid', now: clock() });
    expect(svcOf(await routed.chat({}, key)).receipt.settlement).toMatchObject({ account: 'api_key' });
    expect(await routed.balance(account)).toMatchObject({ balance: 9_993_700n, reserved: 0n });
    const dear = await routed.chat({ n: 8 }, key);
    expect(svcOf(dear).receipt.settlement).toMatchObject({ account: 'development' });
    expect(await routed.balance(account)).toMatchObject({ balance: 9_993_700n, reserved: 0n });
  });

  it('strips a provider’s own svc from an answer and a stream: it can speak for no receipt of ours', async () => {
    const members = { svc: { receipt: { receipt_id: 'FAKE' } } };
    routed.upstream.play({ members }, { members });
    const reply = await routed.chat();
    const { payloads, svc } = await routed.stream({ stream_options: { include_usage: true } });
    expect(reply.text + payloads.join('')).not.toContain('FAKE');
    expect(svcOf(reply).receipt.response.hash).toBe(answerHash(reply));
    expect(payloads.filter((payload) => payload.includes('"svc"'))).toHaveLength(1);
    expect(textIn(payloads)).toBe(said);
    expect(svc?.receipt.response.hash).toBe(streamHash(payloads));
  });

  describe('with an Idempotency-Key', () => {
    it('gives the first answer again and charges nothing', async () => {
      const headers = { 'idempotency-key': `k-${database}` };
      const first = await routed.chat({}, headers);
      const { balance } = await routed.balance('development');
      const second = await routed.chat({}, headers);
      expect(second.text).toBe(first.text);
      expect(second.headers.get('idempotency-replayed')).toBe('true');
      expect(routed.upstream.requests).toHaveLength(1);
      expect((await routed.balance('development')).balance).toBe(balance);
    });

    it('answers many at once with one call', async () => {
      const headers = { 'idempotency-key': `many-${database}` };
      const replies = await Promise.all(Array.from({ length: 5 }, () => routed.chat({}, headers)));
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
      expect(routed.upstream.requests).toHaveLength(1);
    });

    it('refuses another body', async () => {
      const headers = { 'idempotency-key': `other-${database}` };
      await routed.chat({}, headers);
      expect((await routed.chat({ n: 2 }, headers)).json).toMatchObject({ code: 'idempotency_key_reused' });
    });

    it('refuses to repeat a stream, and names its receipt', async () => {
      const headers = { 'idempotency-key': `stream-${database}` };
      const { svc } = await routed.stream({}, headers);
      const reply = await toReply(await routed.post(CHAT, { model: MODEL, messages, stream: true }, headers));
      expect(reply.status).toBe(409);
      expect(reply.json).toMatchObject({
        code: 'already_answered',
        detail: expect.stringContaining(String(svc?.receipt.receipt_id)),
      });
      expect(routed.upstream.requests).toHaveLength(1);
    });
  });
});
