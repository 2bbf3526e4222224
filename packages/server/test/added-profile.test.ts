import { type JsonObject, PROFILES, receiptIdPattern, type SealReference } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sweepRoom } from '../../receipts/src/evidence/sweep.ts';
import { purgeExpired } from '../../receipts/src/retention.ts';
import { createClient } from '../../sdk/src/index.ts';
import { buildPage } from '../../web/scripts/page.ts';
import { callTool, connectMcp } from './mcp-client.ts';
import { expectProblem, type Reply, receiptIdOf, startTestService, type TestService } from './service.ts';
import { newTenant } from './tenant.ts';

// The registry as it is with one more line in each of its lists: all else is the service and the packages as they are.
vi.mock('../../core/src/receipts/profiles/registry.ts', async (original) => {
  const registry = await original<typeof import('../../core/src/receipts/profiles/registry.ts')>();
  const { brief, briefForm } = await import('./added-profile.ts');
  return { FORMS: [...registry.FORMS, briefForm], profiles: [...registry.profiles, brief] };
});

const DAY = 86_400_000;
const EMIT = '/v1/receipt/emit?profile=brief';

let service: TestService;
let reply: Reply;
let receipt: JsonObject;
beforeAll(async () => {
  service = await startTestService();
  reply = await service.post(EMIT, { input: 'x', purpose: 'a trial' });
  receipt = reply.json;
});
afterAll(() => service.close());

describe('a profile that is added to the registry', () => {
  it('is emitted, verified and read', async () => {
    expect([reply.status, reply.headers.get('x-receipt-profile')]).toEqual([200, 'brief']);
    const id = receiptIdOf(reply.text);
    expect(id).toMatch(/^r_brief_/);
    expect(id).toMatch(receiptIdPattern);
    expect(receipt).toMatchObject({ receipt_profile: 'brief', priority: 5, purpose: 'a trial' });
    const { json } = await service.post('/v1/receipt/verify', receipt);
    expect(json).toMatchObject({
      valid: true,
      family: 'profile',
      profile: 'brief',
      issuer: { trusted: true },
    });
    expect(json.checks).toContainEqual(
      expect.objectContaining({
        name: 'size',
        ok: true,
        detail: expect.stringContaining('of 1000 bytes') as string,
      }),
    );
    expect((await service.get(`/v1/receipt/${id}`)).json).toEqual(receipt);
  });

  it('is held to its shape and to its size', async () => {
    const { json } = await service.post('/v1/receipt/verify', { ...receipt, priority: 10 });
    expect(json).toMatchObject({ valid: false, checks: [{ name: 'format', ok: false }, {}] });
    const refusal = await service.post(EMIT, { input: 'x', purpose: 'p'.repeat(900) });
    expectProblem(refusal, 'receipt_too_large', 'purpose');
    expect(refusal.text).toContain('the limit is 1000 bytes. Shorten the purpose.');
  });

  it('carries the members that it has room for, and no others', async () => {
    const seal: SealReference = {
      seal_id: 's',
      ciphertext_sha256: 'a'.repeat(64),
      key_commitment: 'b'.repeat(64),
    };
    const refusal = await service.post(EMIT, { input: 'x', seal });
    expectProblem(refusal, 'unknown_field', 'seal');
    expect(refusal.text).toContain(
      'A brief receipt has no seal. Leave it out, or choose the profile standard or pq.',
    );
  });

  it('is priced, and an alternative of the recommender', async () => {
    const { json } = await service.get('/pricing');
    expect(json.profiles).toContainEqual({
      profile: 'brief',
      price_usd: '0.0002',
      unit: 'call',
      max_bytes: 1000,
      retention_days: 7,
      default: false,
      pay_by: ['exact', 'prepaid', 'api_key'],
    });
    const chosen = await service.post('/v1/rubric/select', { intent: 'buy', amount: '5' });
    expect(chosen.json.alternatives).toContainEqual({
      profile: 'brief',
      price_usd: '0.0002',
      when: 'trying things out; kept a week',
    });
  });

  it('is in the OpenAPI document, in the tools of MCP, and in the words of the verify page', async () => {
    const { text } = await service.get('/openapi.json');
    expect(text).toContain('"enum":["nano","standard","pq","brief"]');
    expect(text).toContain('brief takes at most 1,000 bytes');
    const client = await connectMcp(await service.listen(), '2025-11-25');
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === 'emit_receipt');
    expect(tool?.description).toContain('(nano, standard, pq or brief)');
    const emitted = await callTool(client, 'emit_receipt', { input: 'x', profile: 'brief' });
    expect(emitted.json).toMatchObject({ receipt_profile: 'brief' });
    await client.close();
    const { html } = await buildPage('verify');
    expect(html).toContain('"brief":"Brief profile"');
    expect(html).toContain('That it is long.');
  });

  it('is emitted and verified by the SDK', async () => {
    const client = createClient({ baseUrl: await service.listen() });
    const profile = PROFILES.at(-1);
    const issued = await client.emit({ input: 'x', ...(profile === undefined ? {} : { profile }) });
    expect(issued.receipt).toMatchObject({ receipt_profile: 'brief' });
    expect(await client.verify(issued.receipt)).toMatchObject({
      valid: true,
      profile: 'brief',
    });
  });

  it('leaves the room of a tenant, and the store, when its retention is over', async () => {
    const { store, issuer } = service.services;
    const { clock } = service;
    const tenant = await newTenant(service);
    const place = `/tenants/${tenant.id}`;
    const emitted = await service.post(`${place}/receipts?profile=brief`, { input: 'x' }, tenant.headers);
    const inRoom = async (): Promise<unknown> => {
      const headers = { ...tenant.headers, accept: 'application/json' };
      return (await service.get(`${place}/evidence`, headers)).json.receipts;
    };
    clock.advance(1000);
    expect(await inRoom()).toBe(1);
    clock.advance(7 * DAY);
    // The receipt of the first export is left.
    expect(await inRoom()).toBe(1);
    await sweepRoom({ store, issuer, clock }, tenant.id, Math.floor(clock() / 1000));
    const { body } = (await store.tenants.newestPurge(tenant.id)) ?? {};
    expect(JSON.parse(body ?? '{}')).toMatchObject({ count: 1, profiles: { brief: 1 } });
    await purgeExpired(store, clock());
    const read = await service.get(`/v1/receipt/${receiptIdOf(emitted.text)}`, tenant.headers);
    expectProblem(read, 'receipt_purged');
  });
});
