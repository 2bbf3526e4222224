import { afterEach, beforeEach, expect, it } from 'vitest';
import { CHAT, MODEL, messages, payloadsOf, type Routed, startRouted, streamHash, svcIn } from './compute.ts';

/** Stopping is for good, so each test has a service of its own. */
let routed: Routed;
beforeEach(async () => {
  routed = await startRouted();
});
afterEach(() => routed.close());

const endCalls = (): Promise<unknown> =>
  Promise.all(routed.service.processes.map((process) => process.endCalls()));
const open = (body = {}): Promise<Response> => routed.post(CHAT, { model: MODEL, messages, ...body });

it('a stopping service ends an open stream with an error event, its receipt and its bill', async () => {
  routed.upstream.play({ pieces: Array.from({ length: 500 }, () => 'word '), everyMs: 20 });
  const hungUp = routed.upstream.hungUp();
  const response = await open({ stream: true });
  await endCalls();
  const payloads = payloadsOf(await response.text());
  expect(JSON.parse(payloads.at(-2) ?? '')).toMatchObject({
    error: { type: 'server_error', code: 'unavailable' },
  });
  expect(payloads).not.toContain('[DONE]');
  expect(svcIn(payloads)?.receipt).toMatchObject({
    receipt_id: response.headers.get('x-receipt-id'),
    call: { complete: false, usage_estimated: true },
    response: { hash: streamHash(payloads) },
  });
  await hungUp;
  await routed.expectBalanced();
});

it('so it ends one whose client reads nothing', async () => {
  routed.upstream.play({ pieces: Array.from({ length: 400 }, () => 'word '.repeat(20_000)) });
  const response = await open({ stream: true, max_tokens: 1_000_000 });
  expect((await routed.balance('development')).reserved).toBeGreaterThan(0n);
  await endCalls();
  const kept = await routed.service.get(`/v1/receipt/${response.headers.get('x-receipt-id')}`);
  expect(kept.json).toMatchObject({ call: { complete: false } });
  await routed.expectBalanced();
  await response.body?.cancel();
});

it('answers 503 to a call that waits for its provider, and to later ones, which nobody pays for', async () => {
  routed.upstream.always({ fault: { kind: 'silence' } });
  const waiting = open();
  await expect.poll(() => routed.upstream.requests.length).toBe(1);
  await endCalls();
  for (const reply of [await waiting, await open(), await open({ stream: true })]) {
    expect(reply.status).toBe(503);
    expect(await reply.json()).toMatchObject({ code: 'unavailable' });
  }
  expect((await routed.balance('development')).balance).toBe(0n);
  await routed.expectBalanced();
});
