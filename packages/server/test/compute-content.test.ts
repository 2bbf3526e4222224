import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApiKey } from '../../callers/src/manage-api-keys.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import { MODEL, messages, type Routed, startRouted, svcOf } from './compute.ts';
import { apiKey, DATABASES, type Reply } from './service.ts';

type Headers = Record<string, string>;
const KEEP = { svc: { keep: true } };
const DAY_MS = 86_400_000;

const pathOf = (id: string): string => `/v1/compute/calls/${id}/content`;
const idOf = (reply: Pick<Reply, 'headers'>): string => reply.headers.get('x-receipt-id') ?? '';

function expectNotKept({ status, json, text }: Reply): void {
  expect(status, text).toBe(404);
  expect(json).toMatchObject({ code: 'content_not_kept', error: { code: 'content_not_kept' } });
}

describe.each(DATABASES)('what callers have kept on %s', (database) => {
  let routed: Routed;
  let owner: Headers;
  let stranger: Headers;
  beforeAll(async () => {
    routed = await startRouted({ database, env: { TALLY_KEEP_CONTENT_DAYS: '2' } });
    owner = await apiKey(routed.service, 'pro');
    stranger = await apiKey(routed.service, 'pro');
  });
  afterAll(() => routed.close());

  const read = (id: string, headers = owner) => routed.service.get(pathOf(id), headers);
  const remove = (id: string, headers = owner) =>
    routed.service.request(pathOf(id), { method: 'DELETE', headers });
  const keptOf = async (id: string, headers = owner): Promise<unknown> => {
    await routed.service.listed();
    const { json } = await routed.service.get(`/v1/compute/calls?receipt_id=${id}`, headers);
    return (json['data'] as JsonObject[])[0]?.['content_kept'];
  };

  it('is the request, what the provider was sent, and the answer', async () => {
    const body = { model: MODEL, messages, temperature: 0.5, cost_quality: 3, ...KEEP };
    const reply = await routed.chat(body, owner);
    const { svc: _svc, ...answer } = reply.json;
    const { json, headers } = await read(idOf(reply));
    expect(json).toEqual({
      kept_until: new Date(routed.service.clock() + 2 * DAY_MS).toISOString().replace('.250Z', '.000Z'),
      request: body,
      sent: routed.upstream.requests.at(-1)?.body,
      answer,
    });
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(await keptOf(idOf(reply))).toBe(true);
  });

  it('is the delivered text of a stream, put together, also of one that was cut', async () => {
    routed.upstream.play({ pieces: ['Well', ', then', '.'] });
    const whole = await routed.stream(KEEP, owner);
    expect((await read(whole.svc?.receipt.receipt_id ?? '')).json).toMatchObject({
      request: { stream: true, messages },
      answer: {
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Well, then.' }, finish_reason: 'stop' },
        ],
      },
    });
    routed.upstream.play({ pieces: ['Well', ', then', '.'], fault: { kind: 'cut', after: 2 } });
    const cut = await routed.stream(KEEP, owner);
    const { json } = await read(cut.svc?.receipt.receipt_id ?? '');
    expect(json).toMatchObject({ answer: { choices: [{ finish_reason: null }] } });
    expect(JSON.stringify(json['answer'])).not.toContain('then.');
  });

  it('is kept of other protocols and of embeddings as well', async () => {
    const message = { model: MODEL, max_tokens: 20, messages, ...KEEP };
    const asked = await routed.post('/v1/compute/messages', message, owner);
    await asked.text();
    expect((await read(idOf(asked))).json).toMatchObject({ request: message, answer: { type: 'message' } });
    const input = { model: 'local/embed-512', input: 'a', ...KEEP };
    const embedded = await routed.post('/v1/compute/embeddings', input, owner);
    await embedded.text();
    const { json } = await read(idOf(embedded));
    expect(json).toMatchObject({ request: input, sent: { input: 'a' }, answer: { object: 'list' } });
  });

  it('is nothing where the caller does not ask for it', async () => {
    for (const body of [{}, { svc: { keep: false } }, { svc: { tags: { keep: 'true' } } }]) {
      const id = idOf(await routed.chat(body, owner));
      expectNotKept(await read(id));
      expectNotKept(await remove(id));
      expect(await keptOf(id)).toBe(false);
    }
  });

  it('is asked for by an API key, and a call can say otherwise', async () => {
    const made = await routed.service.post('/v1/keys', { keep: true }, owner);
    expect(made.json).toMatchObject({ keep: true });
    const { id, key } = made.json as { id: string; key: string };
    const keeping = { authorization: `Bearer ${key}` };
    const kept = idOf(await routed.chat({}, keeping));
    expect((await read(kept)).json).toMatchObject({ request: { messages } });
    const streamed = async (body: JsonObject) =>
      (await routed.stream(body, keeping)).svc?.receipt.receipt_id ?? '';
    expect((await read(await streamed({}))).json).toMatchObject({ answer: { object: 'chat.completion' } });
    expectNotKept(await read(await streamed({ svc: { keep: false } })));
    expectNotKept(await read(idOf(await routed.chat({ svc: { keep: false } }, keeping))));
    await routed.service.request(`/v1/keys/${id}`, {
      method: 'PATCH',
      headers: { ...owner, 'content-type': 'application/json' },
      body: JSON.stringify({ keep: false }),
    });
    expectNotKept(await read(idOf(await routed.chat({}, keeping))));
    expect((await read(idOf(await routed.chat(KEEP, keeping)))).status).toBe(200);
  });

  it('is read and deleted by its caller alone', async () => {
    const { json: child } = await routed.service.post('/v1/keys', {}, owner);
    const made = { authorization: `Bearer ${child['key'] as string}` };
    const ids = [idOf(await routed.chat(KEEP, owner)), idOf(await routed.chat(KEEP, made))] as const;
    for (const id of ids) {
      for (const refused of [await read(id, stranger), await remove(id, stranger), await read(id, {})])
        expectNotKept(refused);
    }
    // A key that another account pays for reads what was made with it alone.
    expectNotKept(await read(ids[0], made));
    expectNotKept(await remove(ids[0], made));
    expect((await read(ids[1], made)).status).toBe(200);
    expect((await read(ids[1], owner)).status).toBe(200);
    expect((await remove(ids[0])).status).toBe(204);
    expectNotKept(await read(ids[0]));
    expect(await keptOf(ids[0])).toBe(false);
    expect((await routed.service.get(`/v1/receipt/${ids[0]}`)).status).toBe(200);
  });

  it('is null where it is too long, and the rest is kept', async () => {
    const long = [{ role: 'user', content: 'word '.repeat(110_000) }];
    const reply = await routed.chat({ messages: long, ...KEEP }, owner);
    expect(reply.status, reply.text).toBe(200);
    const { json } = await read(idOf(reply));
    expect(json).toMatchObject({ request: null, sent: null, answer: { object: 'chat.completion' } });
    routed.upstream.play({ pieces: Array.from({ length: 60 }, () => 'x'.repeat(10_000)) });
    const streamed = await routed.stream(KEEP, owner);
    const { json: kept } = await read(streamed.svc?.receipt.receipt_id ?? '');
    expect(kept).toMatchObject({ request: { messages }, answer: null });
  });

  it('costs the settlement nothing: a call is answered and billed while nothing can be kept', async () => {
    const fault = new Error('a row that cannot be');
    const refused = routed.service.processes.map(({ store: { contents } }) =>
      vi.spyOn(contents, 'put').mockRejectedValue(fault),
    );
    const reply = await routed.chat(KEEP, owner);
    expect(svcOf(reply).billing.charge).toBeDefined();
    expectNotKept(await read(idOf(reply)));
    for (const spy of refused) spy.mockRestore();
    const { text } = await routed.service.get('/metrics');
    expect(text).toMatch(/^compute_contents_unkept_total 1$/m);
    await routed.expectBalanced();
  });

  it('is not stored in the clear, and opens under no other key or owner', async () => {
    const id = idOf(await routed.chat(KEEP, owner));
    const { store, compute, issuer, clock } = routed.service.services;
    await routed.service.listed();
    const { apiKeySecret } = withApiKeySecret(issuer.keyring);
    const now = clock();
    const other = await createApiKey(store, apiKeySecret, { tier: 'pro', label: null, now });
    const { json } = await routed.service.get(`/v1/compute/calls?receipt_id=${id}`, owner);
    const account = `caller:${(json['data'] as JsonObject[])[0]?.['key'] as string}`;
    const row = await store.contents.find(account, id);
    expect(row).not.toBeNull();
    expect(Buffer.from(row?.sealed ?? []).toString('latin1')).not.toContain('Say it.');
    // Whoever writes to the database can't give a row to somebody else.
    await store.contents.remove(account, id);
    if (row !== null) await store.contents.put([{ ...row, owner: `caller:${other.id}` }]);
    await expect(compute.contents.find(`caller:${other.id}`, null, id)).rejects.toThrow(
      'unable to authenticate',
    );
  });

  it('is over at its time, and is deleted then', async () => {
    const id = idOf(await routed.chat(KEEP, owner));
    expect((await read(id)).status).toBe(200);
    routed.service.clock.advance(2 * DAY_MS);
    expectNotKept(await read(id));
    await routed.service.services.compute.contents.purge();
    expect(await keptOf(id)).toBe(false);
  });
});

it('nothing is kept where the operator keeps nothing, whatever the caller asks for', async () => {
  const routed = await startRouted();
  const owner = await apiKey(routed.service, 'pro');
  const put = vi.spyOn(routed.service.services.store.contents, 'put');
  for (const reply of [await routed.chat(KEEP, owner), await routed.stream(KEEP, owner)]) {
    const id = 'svc' in reply ? (reply.svc?.receipt.receipt_id ?? '') : idOf(reply);
    expectNotKept(await routed.service.get(pathOf(id), owner));
  }
  expect(put).not.toHaveBeenCalled();
  await routed.close();
});
