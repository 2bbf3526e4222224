import { setImmediate } from 'node:timers/promises';
import { canonicalize, copyJson } from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
import { startRouted, svcOf } from './compute.ts';
import { apiKey, DATABASES, expectProblem, startTestService, type TestService, toReply } from './service.ts';
import { freshSigner, registration } from './statements.ts';

const AGENT = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
const KEY = { 'idempotency-key': 'order-42' };
const HOUR = 3_600_000;

const ROUTES = [
  ['free mint', '/v1/receipt/free', { input: 'x', purpose: 'p' }, { input: 'x', purpose: 'q' }],
  ['emit', '/v1/receipt/emit', { payload: { a: 1, b: 2 } }, { payload: { a: 1, b: 3 } }],
  ['emit nano', '/v1/receipt/emit?profile=nano', { input: 'x', ok: true }, { input: 'x' }],
] as const;

describe.each(DATABASES)('Idempotency-Key on %s', (database) => {
  let service: TestService;
  const start = async (env = {}) => {
    service = await startTestService({ database, env });
    return service;
  };
  afterEach(() => service.close());

  it.each(ROUTES)(
    '%s: the same request gives the same receipt to the byte, also after a restart',
    async (_, path, body, other) => {
      await start();
      const first = await service.post(path, body, KEY);
      expect(first.status, first.text).toBe(200);
      expect(first.headers.has('idempotency-replayed')).toBe(false);
      service.clock.advance(HOUR);
      const again = await service.post(path, ` ${JSON.stringify(body)}`, KEY);
      expect(again.text).toBe(first.text);
      expect(again.status).toBe(200);
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.headers.get('x-receipt-profile')).toBe(first.headers.get('x-receipt-profile'));
      await service.restart();
      expect((await service.post(path, body, KEY)).text).toBe(first.text);
      expectProblem(await service.post(path, other, KEY), 'idempotency_key_reused');
      expect((await service.post(path, body, { 'idempotency-key': 'order-43' })).text).not.toBe(first.text);
      expect((await service.post(path, body)).text).not.toBe(first.text);
    },
  );

  it('another profile is another request', async () => {
    await start();
    await service.post('/v1/receipt/emit?profile=nano', { input: 'x' }, KEY);
    expectProblem(await service.post('/v1/receipt/emit', { input: 'x' }, KEY), 'idempotency_key_reused');
  });

  it('routes do not share keys', async () => {
    await start();
    const minted = await service.post('/v1/receipt/free', { input: 'x', purpose: 'p' }, KEY);
    const emitted = await service.post('/v1/receipt/emit', { input: 'x' }, KEY);
    expect([minted.status, emitted.status]).toEqual([200, 200]);
  });

  it('two callers with equal keys do not meet', async () => {
    await start({ TALLY_TRUSTED_PROXIES: '127.0.0.1' });
    const url = await service.listen();
    const mint = async (headers: Record<string, string>) => {
      const init = { method: 'POST', body: JSON.stringify({ input: 'x', purpose: 'p' }) };
      const reply = await toReply(
        await fetch(`${url}/v1/receipt/free`, {
          ...init,
          headers: { 'content-type': 'application/json', ...KEY, ...headers },
        }),
      );
      expect(reply.status, reply.text).toBe(200);
      return reply.json.receipt_id;
    };
    const callers = [
      {},
      { 'x-agent-did': AGENT },
      await apiKey(service, 'pro'),
      await apiKey(service, 'pro'),
      { 'x-forwarded-for': '192.0.2.1' },
      { 'x-forwarded-for': '192.0.2.2' },
      { 'x-forwarded-for': '2001:db8:1:2::3' },
    ];
    const ids = await Promise.all(callers.map(mint));
    expect(new Set(ids).size).toBe(callers.length);
    expect(await Promise.all(callers.map(mint))).toEqual(ids);
    expect(await mint({ 'x-forwarded-for': '2001:db8:1:2::4' })).toBe(ids[6]);
    expect(await mint({ 'x-forwarded-for': '198.51.100.9, 192.0.2.1' })).toBe(ids[4]);
  });

  it.each(ROUTES)('%s: 20 at once make one receipt', async (_, path, body) => {
    await start();
    const replies = await Promise.all(Array.from({ length: 20 }, () => service.post(path, body, KEY)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(replies.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
  });

  it('20 at once with different bodies make one receipt and 19 refusals', async () => {
    await start();
    const bodies = Array.from({ length: 20 }, (_, i) => ({ input: `x${i}` }));
    const replies = await Promise.all(bodies.map((body) => service.post('/v1/receipt/emit', body, KEY)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ json }) => json.code === 'idempotency_key_reused')).toHaveLength(19);
  });

  it('20 calls of one key at once make one charge, with one body as with 20', async () => {
    const routed = await startRouted({ database });
    service = routed.service;
    const charged = async () => -(await routed.balance('development')).balance;
    for (const [round, bodyOf] of [() => 'Say it.', (i: number) => `Say ${i}.`].entries()) {
      const [before, asked] = [await charged(), routed.upstream.requests.length];
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          routed.chat(
            { messages: [{ role: 'user', content: bodyOf(i) }] },
            { 'idempotency-key': `charge-${round}` },
          ),
        ),
      );
      const answered = replies.filter(({ status }) => status === 200);
      expect(new Set(answered.map(({ text }) => text)).size).toBe(1);
      expect(answered).toHaveLength(round === 0 ? 20 : 1);
      for (const reply of replies.filter(({ status }) => status !== 200))
        expect(reply).toMatchObject({ status: 422, json: { code: 'idempotency_key_reused' } });
      expect(routed.upstream.requests.length - asked).toBe(1);
      const [first] = answered;
      const { nano } = first === undefined ? { nano: '0' } : svcOf(first).billing.charge;
      expect(BigInt(nano)).toBeGreaterThan(0n);
      expect((await charged()) - before).toBe(BigInt(nano));
    }
    await routed.expectBalanced();
    await routed.upstream.close();
  });

  it('issuers: 20 of one statement at once, and again after a restart, give one record', async () => {
    await start();
    const key = await freshSigner();
    const bodyFor = async (did: string) =>
      canonicalize(copyJson(await registration(did, key, service.clock())));
    const send = (body: string) => service.post('/v1/issuers', body, KEY);
    const body = await bodyFor('did:svc:acme');
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(body)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]?.status).toBe(201);
    await service.restart();
    const again = await send(body);
    expect(again).toMatchObject({ status: 201, text: replies[0]?.text });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expectProblem(await send(await bodyFor('did:svc:other')), 'idempotency_key_reused');
    expectProblem(await service.post('/v1/issuers', body), 'issuer_exists', 'statement.did');
  });

  it('issuers: a duplicate that comes while the first is written finds its answer', async () => {
    await start();
    const key = await freshSigner();
    for (let i = 0; i < 6; i++) {
      const body = canonicalize(copyJson(await registration(`did:svc:acme-${i}`, key, service.clock())));
      const send = async (turns: number) => {
        for (let turn = 0; turn < turns; turn++) await setImmediate();
        return service.post('/v1/issuers', body, { 'idempotency-key': `${i}` });
      };
      const replies = await Promise.all(Array.from({ length: 20 }, (_, turns) => send(turns)));
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    }
  });

  it('a refused request leaves its key free', async () => {
    await start();
    expectProblem(await service.post('/v1/receipt/emit', { input: '' }, KEY), 'empty_input', 'input');
    expect((await service.post('/v1/receipt/emit', { input: 'x' }, KEY)).status).toBe(200);
  });

  it('a key is free again after 72 hours', async () => {
    await start();
    const first = await service.post('/v1/receipt/emit', { input: 'x' }, KEY);
    service.clock.advance(72 * HOUR);
    await service.restart();
    const next = await service.post('/v1/receipt/emit', { input: 'another' }, KEY);
    expect(next.status, next.text).toBe(200);
    expect(next.text).not.toBe(first.text);
  });
});
