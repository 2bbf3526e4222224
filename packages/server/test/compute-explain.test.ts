import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replay } from '../../inference/src/router/replay.ts';
import { pretty, rows, toolTurn } from './compressible.ts';
import { MODEL, payloadsOf, type Routed, type Svc, startRouted, svcIn } from './compute.ts';
import { SPOKEN } from './spoken.ts';

type Told = Svc & { readonly compression: JsonObject };

let routed: Routed;
beforeAll(async () => {
  routed = await startRouted();
});
afterAll(() => routed.close());

async function ask(path: string, body: JsonObject, headers: Record<string, string> = {}) {
  const response = await routed.post(path, body, headers);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const svc = body['stream'] === true ? svcIn(payloadsOf(text)) : (JSON.parse(text) as { svc: Svc }).svc;
  return { text, svc: svc as Told };
}

/** The row of the call as its caller reads it later. */
async function listed({ receipt }: Svc): Promise<JsonObject> {
  await routed.service.listed();
  const { status, json } = await routed.service.get(`/v1/compute/calls/${receipt.receipt_id}`);
  expect(status).toBe(200);
  return json;
}

/** What of the whole `svc` is in the short one. */
function shortOf({ receipt, routing, served, compression, billing }: Told): JsonObject {
  const { model, why } = routing['outcome'] as JsonObject;
  const { tier, tokens_before, tokens_after } = compression;
  const { account, charge, saving, share } = billing;
  return {
    receipt,
    routing: { outcome: { model, why } },
    served: served as unknown as JsonObject,
    compression: { tier, tokens_before, tokens_after },
    billing: { account, charge, saving, share },
  } as JsonObject;
}

const cases = SPOKEN.flatMap((spoken) => [false, true].map((stream) => ({ ...spoken, stream })));

describe.each(cases)('svc of $name (stream: $stream)', ({ path, request, stream }) => {
  it('says what was done, billed and saved and why; the rest is in the list of calls', async () => {
    const { svc } = await ask(path, { model: 'auto', ...request, stream });
    const { routing, billing, compression } = await listed(svc);
    expect(svc).toEqual(shortOf({ ...svc, routing, billing, compression } as unknown as Told));
    expect(replay(routing as JsonObject)).toMatchObject({ same: true, outcome: svc.routing['outcome'] });
    expect(JSON.stringify({ ...svc, receipt: null }).length).toBeLessThan(600);
  });

  it('has the whole with svc.explain, the same as the list', async () => {
    const { svc } = await ask(path, { model: 'auto', ...request, stream, svc: { explain: true } });
    const { routing, billing, compression } = svc;
    expect(await listed(svc)).toMatchObject({ routing, billing, compression });
    expect(replay(routing).same).toBe(true);
    expect(billing).toMatchObject({ usage: { counted_by: 'provider' }, reserved: {}, provider_cost: {} });
    expect(compression).toMatchObject({ tokenizer: 'provider', methods: {}, removed: [] });
  });
});

it('svc of embeddings is short and whole likewise', async () => {
  const body = { model: 'openai/text-embedding-3-small', input: 'a' };
  const { svc } = await ask('/v1/compute/embeddings', body);
  const explained = await ask('/v1/compute/embeddings', { ...body, svc: { explain: true } });
  expect(svc.routing).toEqual({ outcome: { model: body.model, why: 'explicit' } });
  expect(svc.compression).toEqual(explained.svc.compression);
  expect(Object.keys(svc.billing)).toEqual(['account', 'charge', 'saving', 'share']);
  expect(replay(explained.svc.routing).same).toBe(true);
  expect(explained.svc.billing).toMatchObject(svc.billing);
});

it('what compression did otherwise than asked for is said in the short form too', async () => {
  const messages = [{ role: 'user', content: 'Which?' }, ...toolTurn('call_1', pretty(rows(60)))];
  const svc = { compression: 'extractive', budget: 0.2, retrieve: true };
  const short = await ask(SPOKEN[0]!.path, { model: 'local/extract-1', messages, svc });
  expect(short.svc.compression['note']).toContain('accepts tools');
});

it('a repeated call has the answer of the first, which was as long as it asked for', async () => {
  const [chat] = SPOKEN;
  const headers = { 'idempotency-key': 'explain-1' };
  const body = { model: MODEL, ...chat!.request, svc: { explain: true } };
  const first = await ask(chat!.path, body, headers);
  expect((await ask(chat!.path, body, headers)).text).toBe(first.text);
  expect(first.svc.routing).toHaveProperty('inputs');
});
