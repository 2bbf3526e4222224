import { anchoredHash, fromHex, type JsonObject, toBase64url } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../store/test/test-database.ts';
import { CHAT, MODEL, messages, type Routed, type Svc, startRouted, svcOf } from './compute.ts';
import { hashOf } from './hashes.ts';
import { apiKey, DATABASES, expectProblem, toReply } from './service.ts';

const PENDING = 'urn:anchor:pending:2027-03-01T12:00Z:';

describe.each(DATABASES)('the receipt of a keyed call over %s', (database) => {
  let routed: Routed;
  beforeAll(async () => {
    routed = await startRouted({ database });
  });
  afterAll(() => routed.close());

  const anchorOf = (receipt: JsonObject) =>
    routed.service.get(`/v1/anchor/by-hash/${toBase64url(fromHex(anchoredHash(receipt), 32))}`);
  const accepted = async () => (await routed.service.get('/v1/log')).json['accepted'];
  const expectAnchored = async ({ receipt }: Svc, tier: string): Promise<string> => {
    const { json } = await anchorOf(receipt);
    const ref = json['anchor_ref'] as string;
    expect(ref).toContain(PENDING);
    expect(receipt).toMatchObject({ tier, anchor_ref: ref });
    const kept = await routed.service.get(`/v1/receipt/${receipt.receipt_id}`);
    expect(kept.json).toEqual(receipt);
    expect(kept.headers.get('x-anchor-ref')).toBe(ref);
    expect((await routed.service.post('/v1/receipt/verify', receipt)).json).toMatchObject({ valid: true });
    return ref;
  };

  it.each(['scale', 'enterprise'] as const)('of %s is anchored without asking', async (tier) => {
    const key = await apiKey(routed.service, tier);
    const reply = await routed.chat({}, key);
    expect(reply.headers.get('x-anchor-ref')).toBe(await expectAnchored(svcOf(reply), tier));
    const { svc } = await routed.stream({}, key);
    if (svc === null) throw new Error('A stream has svc.');
    await expectAnchored(svc, tier);
    const body = { model: 'openai/text-embedding-3-small', input: 'a' };
    await expectAnchored(svcOf(await toReply(await routed.post('/v1/compute/embeddings', body, key))), tier);
  });

  it('of Pro is anchored, and counts in the month, where it is asked for', async () => {
    const key = await apiKey(routed.service, 'pro');
    const { store } = routed.service.services;
    const owner = (await collect(store.apiKeys.list())).find(({ tier }) => tier === 'pro');
    const used = async () =>
      (await store.consume(`pro:2027-03:${owner?.id}`, 0, Date.UTC(2027, 3, 1) / 1000)).used;
    const plain = await routed.chat({}, key);
    expect(svcOf(plain).receipt).toMatchObject({ tier: 'pro' });
    expect(svcOf(plain).receipt).not.toHaveProperty('anchor_ref');
    expect(plain.headers.has('x-anchor-ref')).toBe(false);
    expectProblem(await anchorOf(svcOf(plain).receipt), 'anchor_not_found');
    expect(await used()).toBe(0);
    const body = { svc: { anchor: true } };
    await expectAnchored(svcOf(await routed.chat(body, key)), 'pro');
    expect(await used()).toBe(1);
  });

  it('is anchored once, however often the call is repeated', async () => {
    const headers = { ...(await apiKey(routed.service, 'scale')), 'idempotency-key': 'k' };
    const first = await routed.chat({}, headers);
    const before = await accepted();
    const again = await routed.chat({}, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('x-anchor-ref')).toBe(first.headers.get('x-anchor-ref'));
    expect(await accepted()).toBe(before);
  });
});

describe('an anchor', () => {
  let routed: Routed;
  beforeAll(async () => {
    routed = await startRouted();
  });
  afterAll(() => routed.close());

  it('needs a key', async () => {
    const body = { model: MODEL, messages, svc: { anchor: true } };
    const reply = await toReply(await routed.post(CHAT, body));
    expect(reply.json).toMatchObject({ code: 'api_key_missing', field: 'svc.anchor' });
    expect(routed.upstream.requests).toHaveLength(0);
  });

  it('that the month has no room for keeps no answer back', async () => {
    const key = await apiKey(routed.service, 'pro');
    const { store } = routed.service.services;
    const [owner] = await collect(store.apiKeys.list());
    const expiresAt = Date.UTC(2027, 3, 1) / 1000;
    const quota = { counter: `pro:2027-03:${owner?.id}`, limit: 50_000, expiresAt };
    for (let from = 0; from < 50_000; from += 10_000) {
      const hashes = Array.from({ length: 10_000 }, (_, i) =>
        Buffer.from(hashOf(`used ${from + i}`), 'base64url'),
      );
      await store.log.accept({ hashes, batchAt: expiresAt, quota });
    }
    const reply = await routed.chat({ svc: { anchor: true } }, key);
    expect(reply.status, reply.text).toBe(200);
    expect(reply.headers.has('retry-after')).toBe(false);
    expect(svcOf(reply)).toMatchObject({ anchor_failed: 'quota_exceeded', receipt: { tier: 'pro' } });
    expect(svcOf(reply).receipt).not.toHaveProperty('anchor_ref');
  });
});
