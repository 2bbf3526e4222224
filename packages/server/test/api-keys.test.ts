import { afterEach, describe, expect, it } from 'vitest';
import { createCallers } from '../../callers/src/callers.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../../callers/src/manage-api-keys.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import { writeKeyring } from '../../issuers/src/keyring-file.ts';
import { collect } from '../../store/test/test-database.ts';
import { createApp } from '../src/app/app.ts';
import { createLogger } from '../src/observability/observability.ts';
import { post } from './frame.ts';
import { hashOf } from './hashes.ts';
import { apiKey, DATABASES, expectProblem, startTestService, type TestService, toReply } from './service.ts';

const GOOD = `k_pro_${'a'.repeat(32)}`;

let service: TestService;
afterEach(() => service.close());

const anchor = (headers = {}) => service.post('/v1/anchor', { canonical_sha256: hashOf('x') }, headers);
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function newKey(tier: 'pro' | 'scale' = 'pro') {
  const { store, issuer } = service.services;
  const { apiKeySecret } = withApiKeySecret(issuer.keyring);
  return createApiKey(store, apiKeySecret, { tier, label: 'a customer', now: service.clock() });
}

/** The services with a store of keys that breaks when it is asked. */
function withoutKeyStore() {
  const { store } = service.services;
  const inUse = { ...store.apiKeys.inUse, find: async () => Promise.reject(new Error('asked')) };
  const broken = { ...store.apiKeys, inUse };
  const means = { ...service.services, store: { ...store, apiKeys: broken } };
  return { ...means, store, callers: createCallers(means, { development: true, payments: false }) };
}

describe.each(DATABASES)('API keys on %s', (database) => {
  it('work from when they are made, over restarts, until they are revoked', async () => {
    service = await startTestService({ database });
    const { id, key } = await newKey();
    expect((await anchor(bearer(key))).status).toBe(200);
    await service.restart();
    expect((await anchor({ authorization: `bearer  ${key}` })).status).toBe(200);
    service.clock.advance(60_000);
    await revokeApiKey(service.services.store, id, service.clock());
    const refused = await anchor(bearer(key));
    expectProblem(refused, 'api_key_revoked');
    expect(refused.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    service.clock.advance(60_000);
    await revokeApiKey(service.services.store, id, service.clock());
    expect(await collect(listApiKeys(service.services.store))).toEqual([
      {
        id,
        tier: 'pro',
        label: 'a customer',
        created_at: '2027-03-01T12:00:00Z',
        revoked_at: '2027-03-01T12:01:00Z',
        expires_at: null,
        routing: null,
      },
    ]);
    await expect(revokeApiKey(service.services.store, 'key_x', service.clock())).rejects.toMatchObject({
      code: 'api_key_invalid',
      field: 'id',
    });
  });

  it('are nowhere in the database', async () => {
    service = await startTestService({ database });
    const { key } = await newKey();
    await anchor(bearer(key));
    const rows = await collect(service.services.store.apiKeys.list());
    expect(JSON.stringify(rows)).not.toContain(key.slice(6));
    expect(rows[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
  });
});

it.each([
  ['GET', '/v1/keys'],
  ['POST', '/v1/keys'],
  ['POST', '/v1/receipt/corrections'],
])('%s %s says how to authorize, and nothing of anchoring', async (method, path) => {
  service = await startTestService();
  const reply = await service.request(path, {
    method,
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
  });
  expectProblem(reply, 'api_key_missing');
  expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  expect(reply.json.detail).not.toContain('nchor');
});

describe('a request', () => {
  it('without a key is told to send one', async () => {
    service = await startTestService();
    for (const headers of [{}, { authorization: 'Basic aWNoOmR1' }, { authorization: GOOD }]) {
      const refused = await anchor(headers);
      expectProblem(refused, 'api_key_missing');
      expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    }
    const free = await service.post('/v1/receipt/free', { input: 'x', purpose: 'p', anchor: true });
    expectProblem(free, 'api_key_missing', 'anchor');
    expect(free.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each([
    'Bearer',
    'Bearer k_pro_short',
    `Bearer ${GOOD}x`,
    `Bearer ${GOOD} ${GOOD}`,
    `Bearer ${GOOD}, Bearer ${GOOD}`,
    `Bearer k_free_${'a'.repeat(32)}`,
  ])('with “%s” is refused before the database is asked', async (authorization) => {
    service = await startTestService();
    const app = createApp(withoutKeyStore());
    const bodies = [
      ['/v1/anchor', { canonical_sha256: hashOf('x') }],
      ['/v1/anchor/batch', { canonical_sha256: [hashOf('x')] }],
      ['/v1/receipt/free', { input: 'x', purpose: 'p' }],
      ['/v1/receipt/emit', { input: 'x' }],
    ] as const;
    for (const [path, body] of bodies) {
      const refused = await toReply(await app.request(path, post(body, { authorization })));
      expectProblem(refused, 'api_key_invalid');
      expect(refused.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    }
  });

  it('with a key of another service, or of a keyring without a secret, is refused', async () => {
    service = await startTestService();
    expectProblem(await anchor(bearer(GOOD)), 'api_key_invalid');
    const { key } = await newKey();
    writeKeyring(
      service.config.keyring.path,
      { ...service.services.issuer.keyring, apiKeySecret: null },
      null,
    );
    await service.restart();
    expectProblem(await anchor(bearer(key)), 'api_key_invalid');
  });
});

it('no key is ever in a log line, a problem or a metric', async () => {
  service = await startTestService();
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line) => lines.push(line) });
  const app = createApp({ ...service.services, logger });
  const { id, key } = await newKey();
  const send = async (path: string, body: unknown, credential: string, to = app) =>
    toReply(await to.request(path, post(body, bearer(credential))));
  const texts: string[] = [];
  for (const credential of [key, `${key}x`, GOOD]) {
    texts.push((await send('/v1/anchor', { canonical_sha256: hashOf('x') }, credential)).text);
    texts.push((await send('/v1/anchor', { canonical_sha256: 'x' }, credential)).text);
    texts.push((await send('/v1/receipt/emit', { input: 'x', anchor: true }, credential)).text);
  }
  await revokeApiKey(service.services.store, id, service.clock());
  texts.push((await send('/v1/anchor', {}, key)).text);
  texts.push((await send('/v1/receipt/free', { input: 'x', purpose: 'p' }, key)).text);
  const broken = createApp({ ...withoutKeyStore(), logger });
  texts.push((await send('/v1/receipt/free', { input: 'x', purpose: 'p' }, key, broken)).text);
  texts.push(await (await app.request('/metrics')).text());
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.join('')).toContain('request failed');
  for (const secret of [key, GOOD]) expect([...lines, ...texts].join('')).not.toContain(secret.slice(6));
});

it('the helper’s header is what a client sends', async () => {
  service = await startTestService();
  expect((await anchor(await apiKey(service, 'enterprise'))).status).toBe(200);
});
