import { afterEach, describe, expect, it } from 'vitest';
import { revokeApiKey } from '../../callers/src/manage-api-keys.ts';
import { revokeTenant } from '../../callers/src/manage-tenants.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  type Reply,
  receiptIdOf,
  runningClock,
  startTestService,
  type TestService,
} from './service.ts';
import { evidenceOf, newTenant, newTenantKey, type TestTenant } from './tenant.ts';

let service: TestService;
afterEach(() => service.close());

const emitFor = (
  { id, headers }: TestTenant,
  input: string,
  more: Record<string, string> = {},
): Promise<Reply> => service.post(`/tenants/${id}/receipts`, { input }, { ...headers, ...more });

/** A problem but for what differs from one request to the next. */
const essence = ({ status, json }: Reply) => ({ status, ...json, instance: '' });

describe.each(DATABASES)('tenants on %s', (database) => {
  it('cannot read, count or guess each other’s receipts while both emit', async () => {
    service = await startTestService({ database, clock: runningClock() });
    const [one, other] = [await newTenant(service), await newTenant(service)];
    const emitAll = (tenant: TestTenant) =>
      Promise.all(
        Array.from({ length: 40 }, (_, i) => emitFor(tenant, `${i}`, { 'idempotency-key': `key-${i}` })),
      );
    const [ones, others] = await Promise.all([emitAll(one), emitAll(other)]);
    const ids = (replies: readonly Reply[]) => replies.map(({ text }) => receiptIdOf(text));
    expect(new Set([...ids(ones), ...ids(others)]).size).toBe(80);

    const absent = essence(await service.get('/v1/receipt/r_standard_1800000000_0123456789ab', one.headers));
    for (const id of ids(others).slice(0, 5)) {
      expect(essence(await service.get(`/v1/receipt/${id}`, one.headers))).toEqual(absent);
      expect(essence(await service.get(`/v1/receipt/${id}`))).toEqual(absent);
      expect((await service.get(`/v1/receipt/${id}`, other.headers)).status).toBe(200);
    }
    const [mine, theirs] = await Promise.all([evidenceOf(service, one), evidenceOf(service, other)]);
    const text = Buffer.from(mine.bytes).toString('latin1');
    for (const id of ids(ones)) expect(text).toContain(id);
    for (const id of [...ids(others), other.id]) expect(text).not.toContain(id);
    // A manifest of the one opens nothing of the other.
    const etag = theirs.headers.get('etag') ?? '';
    const taken = await evidenceOf(service, one, { more: { range: 'bytes=0-', 'if-range': etag } });
    expect([taken.status, taken.headers.get('etag') === etag]).toEqual([200, false]);
  });

  it('are revoked at once, with every key', async () => {
    service = await startTestService({ database });
    const tenant = await newTenant(service);
    const second = { ...tenant, ...(await newTenantKey(service, tenant.id)) };
    expect((await emitFor(second, 'x')).status).toBe(200);
    await revokeApiKey(service.services.store, tenant.keyId, service.clock());
    expectProblem(await emitFor(tenant, 'x'), 'api_key_revoked');
    expect((await emitFor(second, 'x')).status).toBe(200);
    await revokeTenant(service.services.store, tenant.id, service.clock());
    expectProblem(await emitFor(second, 'x'), 'api_key_revoked');
    await expect(newTenantKey(service, tenant.id)).rejects.toMatchObject({ code: 'tenant_not_found' });
    await expect(newTenantKey(service, 't_aaaaaaaaaaaaaaaa')).rejects.toMatchObject({
      code: 'tenant_not_found',
    });
  });

  it('repeat a request once, whichever of their keys it comes with', async () => {
    service = await startTestService({ database });
    const tenant = await newTenant(service);
    const second = { ...tenant, ...(await newTenantKey(service, tenant.id)) };
    const same = { 'idempotency-key': 'order-42' };
    const replies = await Promise.all(
      [tenant, second, tenant, second].map((one) => emitFor(one, 'an order', same)),
    );
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expectProblem(await emitFor(tenant, 'another order', same), 'idempotency_key_reused');
    expect((await emitFor(await newTenant(service), 'another order', same)).status).toBe(200);
  });
});

describe('a tenant’s path', () => {
  it('answers the same for a foreign, an absent and a malformed id', async () => {
    service = await startTestService();
    const [one, other] = [await newTenant(service), await newTenant(service)];
    const ids = [
      other.id,
      't_aaaaaaaaaaaaaaaa',
      't_',
      'x',
      '..%2F..',
      '%00',
      `${one.id}%20`,
      one.id.toUpperCase(),
    ];
    for (const path of ['evidence', 'evidence/exports']) {
      const answers = await Promise.all(ids.map((id) => service.get(`/tenants/${id}/${path}`, one.headers)));
      expect(new Set(answers.map((answer) => JSON.stringify(essence(answer)))).size, path).toBe(1);
      expectProblem(answers[0] as Reply, 'tenant_not_found');
      const strangers = await Promise.all(
        [...ids, one.id].map((id) => service.get(`/tenants/${id}/${path}`)),
      );
      expect(new Set(strangers.map((answer) => JSON.stringify(essence(answer)))).size, path).toBe(1);
      expectProblem(strangers[0] as Reply, 'api_key_missing');
    }
    const posted = await Promise.all(ids.map((id) => emitFor({ ...one, id }, 'x')));
    expect(new Set(posted.map((answer) => JSON.stringify(essence(answer)))).size).toBe(1);
    expectProblem(posted[0] as Reply, 'tenant_not_found');
  });

  it('takes a tenant’s key alone, which opens nothing else', async () => {
    service = await startTestService();
    const tenant = await newTenant(service);
    for (const grant of ['scale', 'partner'] as const) {
      const headers = await apiKey(service, grant);
      expectProblem(await service.get(`/tenants/${tenant.id}/evidence`, headers), 'api_key_invalid');
    }
    const hash = { canonical_sha256: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg' };
    expectProblem(await service.post('/v1/anchor', hash, tenant.headers), 'api_key_invalid');
    expectProblem(
      await service.post('/v1/receipt/free', { input: 'x', purpose: 'p' }, tenant.headers),
      'api_key_invalid',
    );
  });

  it('emits every profile, anchored, under ids that nobody counts', async () => {
    service = await startTestService();
    const tenant = await newTenant(service);
    for (const profile of ['nano', 'standard', 'pq']) {
      const reply = await service.post(
        `/tenants/${tenant.id}/receipts?profile=${profile}`,
        { input: 'x' },
        tenant.headers,
      );
      expect(reply.headers.get('x-receipt-profile')).toBe(profile);
      expect(reply.headers.get('x-anchor-ref')).toContain('urn:anchor:pending:');
      expect(reply.text.includes(tenant.id)).toBe(false);
      expect((await service.post('/v1/receipt/verify', reply.text)).json.valid).toBe(true);
    }
    expectProblem(
      await service.post(`/tenants/${tenant.id}/receipts?profile=x`, { input: 'x' }, tenant.headers),
      'unknown_profile',
      'profile',
    );
  });
});
