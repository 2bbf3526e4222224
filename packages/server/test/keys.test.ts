import {
  createSigner,
  type ErrorCode,
  errorTable,
  generateSecretKey,
  type JsonObject,
  signRequest,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApiKey } from '../../callers/src/manage-api-keys.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import { creditCaller } from '../../ledger/src/credit.ts';
import { MODEL, type Routed, startRouted } from './compute.ts';
import { MODELS_FILE } from './models.ts';
import { DATABASES, type Reply, toReply } from './service.ts';

/** Of a call of `MODEL`, in nano-USDC. */
const PRICE = 6_300n;
const SMALL = { model: MODEL, max_tokens: 20 };

interface Key {
  readonly id: string;
  readonly headers: { readonly authorization: string };
}

interface Made extends Key {
  readonly reply: Reply;
}

function expectRefusal(reply: Reply | undefined, code: ErrorCode): void {
  expect(reply?.json, reply?.text).toMatchObject({ code });
  expect(reply?.status).toBe(errorTable[code].status);
}

describe.each(DATABASES)('keys and limits at two services on one database, %s', (database) => {
  let one: Routed;
  let other: Routed;
  let root: Key;
  beforeAll(async () => {
    one = await startRouted({ database });
    const { database: shared, keyring, dataDir } = one.service.config;
    other = await startRouted({
      env: {
        TALLY_DATA_DIR: dataDir,
        TALLY_KEYRING: keyring.path,
        ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
        OPENAI_BASE_URL: `${one.upstream.url}/v1`,
        TALLY_CONFIG: MODELS_FILE,
      },
    });
    root = await operatorsKey();
    await credit(root.id, 10n ** 9n);
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const operatorsKey = async (tier: 'pro' | 'scale' = 'pro'): Promise<Key> => {
    const { store, issuer } = one.service.services;
    const { apiKeySecret } = withApiKeySecret(issuer.keyring);
    const now = one.service.clock();
    const { id, key } = await createApiKey(store, apiKeySecret, { tier, label: 'acme', now });
    return { id, headers: { authorization: `Bearer ${key}` } };
  };
  const credit = (caller: string, amount: bigint) =>
    creditCaller(one.service.services.store, { caller, amount, reference: caller, memo: 'paid in', now: 0 });
  /** At the other service: at once where both read one file, else within a second. */
  const expectRefusedThere = async (headers: Key['headers']): Promise<void> => {
    const refused = async () => expectRefusal(await other.chat(SMALL, headers), 'api_key_revoked');
    await (database === 'sqlite' ? refused() : vi.waitFor(refused, 60_000));
  };
  const send = async (method: string, path: string, body?: unknown, headers: object = root.headers) =>
    toReply(
      await fetch(`${one.url}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const make = async (body: JsonObject = {}, headers?: object): Promise<Made> => {
    const reply = await send('POST', '/v1/keys', body, headers);
    expect(reply.status, reply.text).toBe(201);
    return {
      id: reply.json['id'] as string,
      headers: { authorization: `Bearer ${reply.json['key'] as string}` },
      reply,
    };
  };
  const spentOf = async (id: string) => {
    const { services, clock } = one.service;
    return (await services.store.ledger.spent([id], clock() / 1000)).get(id);
  };
  /** A DID, and requests that it signs. */
  const newAgent = async () => {
    const signer = await createSigner(generateSecretKey());
    const did = signer.keyId.split('#')[0] ?? '';
    const signed = async (method: string, path: string, body?: unknown) => {
      const bytes = body === undefined ? null : utf8(JSON.stringify(body));
      const url = new URL(`${one.service.config.apiUrl}${path}`);
      const moment = { created: Math.floor(one.service.clock() / 1000), nonce: `${path}${Math.random()}` };
      return send(
        method,
        path,
        body,
        await signRequest({ method, url, body: bytes }, { did, signer }, moment),
      );
    };
    return { did, signed };
  };
  const asked = () => one.upstream.requests.length;

  it('keep each of two changes at once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, async () => make()));
    const patched = (url: string, path: string, body: object) =>
      fetch(url + path, {
        method: 'PATCH',
        headers: { ...root.headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const changed = made.flatMap(({ id }) => [
      patched(one.url, `/v1/keys/${id}`, { limits: { day_usdc: '1' } }),
      patched(other.url, `/v1/keys/${id}`, { limits: { month_usdc: '2' } }),
      patched(one.url, `/v1/keys/${id}`, { name: 'batch' }),
    ]);
    for (const { status } of await Promise.all(changed)) expect(status).toBe(200);
    for (const { id } of made) {
      const row = await one.service.services.store.apiKeys.get(id);
      expect(row).toMatchObject({ label: 'batch', limits: '{"day_usdc":"1","month_usdc":"2"}' });
    }
  });

  it('never spend more than a budget, whatever 50 calls at once do', async () => {
    const budget = 100_000n;
    const { id, headers } = await make({ limits: { day_usdc: '0.0001' } });
    const before = asked();
    const replies = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => (index % 2 === 0 ? one : other).chat(SMALL, headers)),
    );
    const served = replies.filter((reply) => reply.status === 200).length;
    expect(served).toBeGreaterThan(0);
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      expectRefusal(reply, 'budget_exceeded');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect(asked()).toBe(before + served);
    expect(await spentOf(id)).toEqual({ day: BigInt(served) * PRICE, month: BigInt(served) * PRICE });
    expect(BigInt(served) * PRICE).toBeLessThanOrEqual(budget);
    // One after the other, they use up what is left, to the last call that can fit.
    let refused: Reply | undefined;
    const left: (string | null)[] = [];
    for (let i = 0; i < 16 && refused === undefined; i += 1) {
      const reply = await other.chat(SMALL, headers);
      if (reply.status !== 200) refused = reply;
      left.push(reply.headers.get('x-budget-left'));
    }
    expectRefusal(refused, 'budget_exceeded');
    for (const amount of left) expect(amount).toMatch(/^0\.0000\d+$/);
    expect((await spentOf(id))?.day).toBeLessThanOrEqual(budget);
    await one.expectBalanced();
  });

  it('are counted by the minute: requests, and tokens as they were used', async () => {
    const { headers } = await make({ limits: { requests_per_minute: 3, tokens_per_minute: 1_000 } });
    const replies = [];
    for (const routed of [one, other, one, other]) replies.push(await routed.chat(SMALL, headers));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const [first, , , last] = replies as [Reply, Reply, Reply, Reply];
    expect(first.headers.get('ratelimit-policy')).toBe('"requests";q=3;w=60, "tokens";q=1000;w=60');
    expect(first.headers.get('ratelimit')).toMatch(/^"requests";r=2;t=\d+, "tokens";r=\d+;t=\d+$/);
    expectRefusal(last, 'rate_limited');
    expect(Number(last.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  });

  it('count the tokens of a call exactly before they refuse it, and say where no wait helps', async () => {
    const messages = [
      { role: 'user', content: 'The quick brown fox jumps over the lazy dog again. '.repeat(120) },
    ];
    const body = { ...SMALL, messages, svc: { compression: 'off' } };
    // Some 1,320 tokens in 6,120 bytes.
    one.upstream.play({ usage: { prompt: 1_330, completion: 5 } });
    const enough = await make({ limits: { tokens_per_minute: 2_000 } });
    const answered = await one.chat(body, enough.headers);
    expect(answered.status, answered.text).toBe(200);
    const later = await one.chat(body, enough.headers);
    expectRefusal(later, 'rate_limited');
    expect(Number(later.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const little = await make({ limits: { tokens_per_minute: 1_000 } });
    const never = await one.chat(body, little.headers);
    expectRefusal(never, 'rate_limited');
    expect(never.headers.has('retry-after')).toBe(false);
    expect(never.json['detail']).toMatch(
      /may use 1000 tokens a minute, and the call can use up to 1\d{3}, so/,
    );
  });

  it('allow models, providers and prices, and no others', async () => {
    const allowed = async (limits: JsonObject, body: JsonObject = SMALL) =>
      (await one.chat(body, (await make({ limits })).headers)).status;
    expect(await allowed({ models: [MODEL] })).toBe(200);
    expect(await allowed({ models: ['openai/text-embedding-3-small'] })).toBe(403);
    expect(await allowed({ providers: ['openai'] })).toBe(200);
    expect(await allowed({ providers: ['local'] })).toBe(403);
    expect(await allowed({ max_price: { prompt: '0.1' } })).toBe(403);
    expect(await allowed({ max_price: { prompt: '0.15', completion: '0.6' } })).toBe(200);
    expect(await allowed({ models: [MODEL] }, { model: 'auto', max_tokens: 20 })).toBe(200);
    expect(await allowed({ models: [MODEL] }, { model: 'auto', provider: { ignore: [MODEL] } })).toBe(400);
    const reply = await send('POST', '/v1/keys', { limits: { models: ['openai/none'] } });
    expectRefusal(reply, 'invalid_field');
    expect(reply.json['field']).toBe('limits.models[0]');
  });

  it('are limits of the owner too: of all of its keys together, set by the operator', async () => {
    const { store } = one.service.services;
    const owner = await operatorsKey();
    await store.apiKeys.change(owner.id, () => ({ limits: '{"requests_per_minute":2}' }));
    const [first, second] = [await make({}, owner.headers), await make({}, owner.headers)];
    expect((await one.chat(SMALL, first.headers)).status).toBe(200);
    expect((await one.chat(SMALL, second.headers)).status).toBe(200);
    expectRefusal(await other.chat(SMALL, owner.headers), 'rate_limited');
    expectRefusal(
      await send('PATCH', `/v1/keys/${owner.id}`, { limits: null }, owner.headers),
      'key_cannot_manage',
    );
  });

  it('are made, listed, changed, rotated and revoked by the owner of the account', async () => {
    const owner = await operatorsKey('scale');
    const made = await make(
      { name: 'nightly', expires_at: '2100-01-01T00:00:00Z', limits: { day_usdc: '5' } },
      owner.headers,
    );
    expect(made.reply.json).toMatchObject({
      name: 'nightly',
      expires_at: '2100-01-01T00:00:00Z',
      limits: { day_usdc: '5' },
      manages: false,
      keep: false,
      spent: { day_usdc: '0', month_usdc: '0' },
    });
    expect(made.headers.authorization).toMatch(/^Bearer k_scale_/);
    const path = `/v1/keys/${made.id}`;
    const changed = await send(
      'PATCH',
      path,
      { name: null, limits: { day_usdc: null, month_usdc: '7' } },
      owner.headers,
    );
    expect(changed.json).toMatchObject({
      name: null,
      limits: { month_usdc: '7' },
      expires_at: '2100-01-01T00:00:00Z',
    });
    expect(changed.json['limits']).not.toHaveProperty('day_usdc');

    const page = await send('GET', '/v1/keys?limit=1', undefined, owner.headers);
    const cursor = page.json['next_cursor'] as string;
    const rest = await send('GET', `/v1/keys?cursor=${cursor}`, undefined, owner.headers);
    const ids = [page, rest].flatMap(({ json }) => (json['data'] as { id: string }[]).map(({ id }) => id));
    expect(ids.toSorted()).toEqual([made.id, owner.id].toSorted());
    expect(rest.json['next_cursor']).toBeNull();
    expect(page.text + rest.text).not.toContain('k_scale_');
    expectRefusal(await send('GET', '/v1/keys?cursor=x', undefined, owner.headers), 'invalid_field');

    const rotated = await send('POST', `${path}/rotate`, { grace_seconds: 60 }, owner.headers);
    const fresh = { authorization: `Bearer ${rotated.json['key'] as string}` };
    expect((await one.chat(SMALL, made.headers)).status).toBe(200);
    expect((await other.chat(SMALL, fresh)).status).toBe(200);
    one.service.clock.advance(60_000);
    expectRefusal(await one.chat(SMALL, made.headers), 'api_key_revoked');
    expect((await one.chat(SMALL, fresh)).status).toBe(200);

    expect((await send('DELETE', path, undefined, owner.headers)).json['revoked_at']).not.toBeNull();
    await expectRefusedThere(fresh);
  });

  it('are nobody else’s: a key without the right, another account, a stranger', async () => {
    const mine = await make();
    const manager = await make({ manages: true });
    const another = await operatorsKey();
    expectRefusal(await send('GET', '/v1/keys', undefined, mine.headers), 'key_cannot_manage');
    expectRefusal(await send('POST', '/v1/keys', {}, mine.headers), 'key_cannot_manage');
    expectRefusal(await send('GET', '/v1/balance/statement', undefined, mine.headers), 'key_cannot_manage');
    expectRefusal(await send('GET', '/v1/balance/entries', undefined, mine.headers), 'key_cannot_manage');
    expect((await send('GET', '/v1/keys', undefined, manager.headers)).status).toBe(200);
    for (const [method, path, body] of [
      ['PATCH', `/v1/keys/${mine.id}`, {}],
      ['DELETE', `/v1/keys/${mine.id}`, undefined],
      ['POST', `/v1/keys/${mine.id}/rotate`, {}],
    ] as const) {
      expectRefusal(await send(method, path, body, another.headers), 'key_not_found');
      expectRefusal(await send(method, path, body, {}), 'api_key_missing');
    }
    expect((await send('GET', '/v1/keys', undefined, another.headers)).json['data']).toHaveLength(1);
    expectRefusal(await send('DELETE', `/v1/keys/${root.id}`), 'key_cannot_manage');
  });

  it('stop working with the key that owns their account', async () => {
    const owner = await operatorsKey();
    const made = await make({ manages: true }, owner.headers);
    await one.service.services.store.apiKeys.revoke(owner.id, 1);
    await expectRefusedThere(made.headers);
  });

  it('of a DID pay from its account for calls, and can’t anchor', async () => {
    const { did, signed } = await newAgent();
    const reply = await signed('POST', '/v1/keys', { name: 'worker' });
    expect(reply.status, reply.text).toBe(201);
    expect(reply.json['key']).toMatch(/^k_call_/);
    const { store } = one.service.services;
    await credit(did, 10n ** 7n);
    await store.apiKeys.changeLimitsOf(did, () => '{"day_usdc":"0.00003"}');
    const headers = { authorization: `Bearer ${reply.json['key'] as string}` };
    expect((await one.chat(SMALL, headers)).status).toBe(200);
    expect((await one.balance(`caller:${did}`)).balance).toBe(10n ** 7n - PRICE);
    for (let i = 0; i < 4; i += 1) await one.chat(SMALL, headers);
    expectRefusal(await one.chat(SMALL, headers), 'budget_exceeded');
    expect((await spentOf(did))?.day).toBeLessThanOrEqual(30_000n);
    expectRefusal(await one.chat({ ...SMALL, svc: { anchor: true } }, headers), 'api_key_missing');
    expectRefusal(
      await send('POST', '/v1/anchor', { canonical_sha256: 'a'.repeat(64) }, headers),
      'api_key_invalid',
    );
  });

  it('are told with what was spent to whoever they bind, and nobody’s to another', async () => {
    const { store } = one.service.services;
    const limitsOf = async (headers: object) => {
      const reply = await send('GET', '/v1/limits', undefined, headers);
      expect(reply.status, reply.text).toBe(200);
      return reply.json['data'] as JsonObject[];
    };
    const { did, signed } = await newAgent();
    await credit(did, 10n ** 7n);
    await store.apiKeys.changeLimitsOf(did, () => '{"month_usdc":"3"}');
    const make = async (body: JsonObject): Promise<Key> => {
      const { json } = await signed('POST', '/v1/keys', body);
      return { id: json['id'] as string, headers: { authorization: `Bearer ${json['key'] as string}` } };
    };
    const worker = await make({ limits: { day_usdc: '1', models: [MODEL] } });
    const manager = await make({ manages: true });
    expect((await one.chat(SMALL, worker.headers)).status).toBe(200);
    const spent = { day_usdc: '0.0000063', month_usdc: '0.0000063' };
    const none = { day_usdc: '0', month_usdc: '0' };
    const ofOwner = { spender: did, limits: { month_usdc: '3' }, spent };
    expect(await limitsOf(worker.headers)).toEqual([
      { spender: worker.id, limits: { day_usdc: '1', models: [MODEL] }, spent },
    ]);
    expect(await limitsOf(manager.headers)).toEqual([
      { spender: manager.id, limits: {}, spent: none },
      ofOwner,
    ]);
    expect((await signed('GET', '/v1/limits')).json).toEqual({ data: [ofOwner] });
    expect(await limitsOf(root.headers)).toMatchObject([{ spender: root.id }]);
    expect(await limitsOf({ 'x-agent-did': did })).toEqual([]);
    one.service.clock.advance(86_400_000);
    expect((await limitsOf(worker.headers))[0]?.['spent']).toEqual({ ...none, month_usdc: '0.0000063' });
  });

  it('tell when they were last used', async () => {
    const { store, callers } = one.service.services;
    const made = await make();
    await one.chat(SMALL, made.headers);
    await store.apiKeys.used(callers.takeUses());
    // The service may have taken the uses a moment before, and be writing them.
    await expect
      .poll(async () => (await store.apiKeys.get(made.id))?.lastUsedAt)
      .toBe(Math.floor(one.service.clock() / 1000));
  });
});
