import { canonicalBytes, type JsonObject, sha256Hex, verify } from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
import { revokeApiKey } from '../../callers/src/manage-api-keys.ts';
import { collect } from '../../store/test/test-database.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  type Reply,
  receiptIdOf,
  startTestService,
  type TestService,
} from './service.ts';

const ROUTE = '/v1/rosetta/normalize';
const POLICY = {
  jurisdiction: 'eu',
  policy: [
    { concept: 'retention', days: 400, delete_when_purpose_ends: true },
    { concept: 'incident_notice', authority_hours: 72 },
  ],
  targets: ['uk', 'in'],
};

let service: TestService;
afterEach(() => service.close());

async function start(options: Parameters<typeof startTestService>[0] = {}) {
  service = await startTestService(options);
  return apiKey(service, 'partner');
}

const hashOf = (value: JsonObject): string => `sha256:${sha256Hex(canonicalBytes(value))}`;

function parts({ json }: Reply): { answer: JsonObject; receipt: JsonObject } {
  const { svc, ...answer } = json;
  return { answer, receipt: (svc as JsonObject)['receipt'] as JsonObject };
}

describe('a pilot', () => {
  it('answers partners alone', async () => {
    const partner = await start();
    expect((await service.post(ROUTE, POLICY, partner)).status).toBe(200);
    const bare = await service.post(ROUTE, POLICY);
    expectProblem(bare, 'api_key_missing');
    expect(bare.headers.get('www-authenticate')).toBe('Bearer');
    for (const tier of ['pro', 'scale', 'enterprise'] as const) {
      const refused = await service.post(ROUTE, POLICY, await apiKey(service, tier));
      expectProblem(refused, 'partner_only');
      expect(refused.status).toBe(403);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"');
    }
    for (const authorization of ['Bearer k_par_short', `Bearer k_par_${'a'.repeat(32)}`])
      expectProblem(await service.post(ROUTE, POLICY, { authorization }), 'api_key_invalid');
  });

  it('is all that a partner’s key opens', async () => {
    const partner = await start();
    const hash = { canonical_sha256: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' };
    const call = { messages: [{ role: 'user', content: 'hi' }] };
    expectProblem(await service.post('/v1/anchor', hash, partner), 'api_key_invalid');
    expectProblem(await service.post('/v1/receipt/emit', { input: 'x' }, partner), 'api_key_invalid');
    const called = await service.post('/v1/compute/chat/completions', call, partner);
    expect(called).toMatchObject({ status: 401, json: { code: 'api_key_invalid' } });
  });

  it('refuses a partner’s key from when it is revoked', async () => {
    const partner = await start();
    const [row] = await collect(service.services.store.apiKeys.list());
    expect(row).toMatchObject({ tier: 'partner' });
    await revokeApiKey(service.services.store, row?.id ?? '', service.clock());
    expectProblem(await service.post(ROUTE, POLICY, partner), 'api_key_revoked');
  });

  it.each([
    ['/v1/anchor', { canonical_sha256: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' }],
    ['/v1/receipt/free', { input: 'x', purpose: 'p' }],
    ['/v1/receipt/emit', { input: 'x' }],
    ['/v1/compute/chat/completions', { messages: [{ role: 'user', content: 'x' }] }],
  ])('is all that a partner’s key opens: not POST %s', async (path, body) => {
    const partner = await start();
    const refused = await service.post(path, body, partner);
    expect([refused.status, refused.json['code']]).toEqual([401, 'api_key_invalid']);
    expect(refused.json['detail']).toMatch(/is a partner key/);
  });

  it('is one in OpenAPI', async () => {
    await start();
    const { paths } = (await service.get('/openapi.json')).json as { paths: Record<string, JsonObject> };
    expect(paths[ROUTE]?.['post']).toMatchObject({ 'x-availability': 'pilot' });
  });
});

describe('the answer', () => {
  it('says that it is no legal advice, and by which crosswalk it was made', async () => {
    const partner = await start();
    const { answer } = parts(await service.post(ROUTE, POLICY, partner));
    expect(answer['notice']).toMatch(/^This is not legal advice\./);
    const published = (await service.get('/v1/rosetta/crosswalk')).json;
    expect(answer['crosswalk']).toEqual({
      version: published['version'],
      digest: published['digest'],
      as_of: published['as_of'],
      entries: 110,
      checked_by_person: 0,
    });
    const targets = answer['targets'] as { jurisdiction: string; concepts: { outcome: string }[] }[];
    const outcomes = targets.map(({ jurisdiction, concepts }) => [
      jurisdiction,
      ...concepts.map(({ outcome }) => outcome),
    ]);
    expect(outcomes).toEqual([
      ['uk', 'decide', 'maps'],
      ['in', 'maps', 'stricter'],
    ]);
  });

  it('is receipted: request, policy as understood and answer, by their hashes', async () => {
    const partner = await start();
    const reply = await service.post(ROUTE, POLICY, { ...partner, 'x-agent-did': 'did:web:a.example' });
    const { answer, receipt } = parts(reply);
    expect(receipt).toMatchObject({
      v: 'svc-receipt-v1',
      request: {
        hash: hashOf(POLICY),
        origin: 'did:web:a.example',
        policy_hash: hashOf(answer['policy'] as never),
        purpose: 'rosetta.normalize',
      },
      response: { hash: hashOf(answer), sealed: false },
    });
    const judged = await verify(receipt, { now: service.clock() });
    expect([judged.valid, judged.integrity]).toEqual([true, true]);
    const kept = await service.get(`/v1/receipt/${receiptIdOf(JSON.stringify(receipt))}`);
    expect(kept.json).toEqual(receipt);
    const tampered = { ...receipt, response: { hash: hashOf({}), sealed: false } };
    expect((await verify(tampered, { now: service.clock() })).integrity).toBe(false);
  });

  it('carries what was not understood, and repeats no text of it', async () => {
    const partner = await start();
    const secret = 'as long as our customer Ms Example wants';
    const policy = [{ concept: 'retention', days: secret, mood: secret }, { concept: 'telepathy' }];
    const { text, json } = await service.post(ROUTE, { ...POLICY, policy }, partner);
    expect(json['unknown']).toMatchObject([
      { concept: 'retention', term: 'days', reason: 'unknown_value' },
      { concept: 'retention', term: 'mood', reason: 'unknown_term' },
      { concept: 'telepathy', term: null, reason: 'unknown_concept' },
    ]);
    expect(text).not.toContain('Ms Example');
  });

  it.each([
    [{ jurisdiction: 'mars' }, 'jurisdiction'],
    [{ targets: ['uk', 'atlantis'] }, 'targets[1]'],
  ])('is refused with 400 for %j, naming %s', async (change, field) => {
    const partner = await start();
    const refused = await service.post(ROUTE, { ...POLICY, ...change }, partner);
    expectProblem(refused, 'unknown_jurisdiction', field);
    expect(refused.status).toBe(400);
    expect(refused.json['detail']).toMatch(/us-ca/);
  });

  it('suggests a jurisdiction that is near', async () => {
    const partner = await start();
    const { json } = await service.post(ROUTE, { ...POLICY, targets: ['us-cq'] }, partner);
    expect(json['detail']).toMatch(/Did you mean us-c[ao]\?/);
  });
});

describe.each(DATABASES)('an Idempotency-Key on %s', (database) => {
  it('gets the first answer again, to the byte, over a restart', async () => {
    const headers = { ...(await start({ database })), 'idempotency-key': 'k1' };
    const first = await service.post(ROUTE, POLICY, headers);
    service.clock.advance(60_000);
    await service.restart();
    const again = await service.post(ROUTE, POLICY, headers);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expectProblem(
      await service.post(ROUTE, { ...POLICY, targets: ['jp'] }, headers),
      'idempotency_key_reused',
    );
    const racing = { ...headers, 'idempotency-key': 'k2' };
    const replies = await Promise.all([1, 2, 3].map(() => service.post(ROUTE, POLICY, racing)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.text).not.toBe(first.text);
  });
});

it('the crosswalk is readable without a key, and its digest is of what is read', async () => {
  await start();
  const { json } = await service.get('/v1/rosetta/crosswalk');
  expect(json['digest']).toBe(hashOf(json['crosswalk'] as JsonObject));
  expect(json['notice']).toMatch(/not legal advice/);
  expect(Object.keys(json['crosswalk'] as JsonObject).toSorted()).toEqual([
    'concepts',
    'instruments',
    'jurisdictions',
    'version',
  ]);
});
