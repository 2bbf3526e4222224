import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../../test/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('POST /v1/rubric/select (specification 4.1)', () => {
  it.each([
    [{ intent: 'sell a data set', amount: 19.9 }, 'standard', 'commerce'],
    [{ intent: 'sell a data set', amount: '19.90' }, 'standard', 'commerce'],
    [{}, 'standard', 'commerce'],
    [{ intent: '', counterparty: 'did:svc:acme' }, 'standard', 'commerce'],
    [{ intent: 'verify a receipt' }, 'nano', 'verify'],
    [{ intent: 'Verify', amount: 100 }, 'nano', 'verify'],
    [{ intent: 'attest a heartbeat' }, 'nano', 'verify'],
    [{ amount: 0.009 }, 'nano', 'sub_cent'],
    [{ amount: '0.009' }, 'nano', 'sub_cent'],
    [{ amount: '0.009999999999999999' }, 'nano', 'sub_cent'],
    [{ amount: 0 }, 'nano', 'sub_cent'],
    [{ amount: '0' }, 'nano', 'sub_cent'],
    [{ amount: 0.01 }, 'standard', 'commerce'],
    [{ amount: '0.01' }, 'standard', 'commerce'],
    [{ amount: '0.010000000000000001' }, 'standard', 'commerce'],
    [{ intent: 'GDPR audit' }, 'pq', 'regulated'],
    [{ intent: 'keep the evidence for 7 years' }, 'pq', 'regulated'],
    [{ intent: 'verify a medical record', amount: 0.001 }, 'pq', 'regulated'],
    [{ counterparty: { regulated: true }, amount: 0.001 }, 'pq', 'regulated'],
    [{ counterparty: { regulated: true }, intent: 'verify' }, 'pq', 'regulated'],
    [{ counterparty: { regulated: false, name: 'a shop' }, amount: 5 }, 'standard', 'commerce'],
  ])('%j takes %s', async (body, recommended_profile, rule) => {
    const { status, json } = await service.post('/v1/rubric/select', body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ recommended_profile, rule });
    const price = { nano: '0.0001', standard: '0.0008', pq: '0.0012' }[recommended_profile];
    expect(json.price_usd).toBe(price);
    expect(json.alternatives).toHaveLength(2);
  });
});

it('GET /pricing is the ladder of specification 2.8, 2.10 and 4.1', async () => {
  const { json } = await service.get('/pricing');
  const profile = (name: string, price_usd: string, max_bytes: number | null, retention_days: number) => ({
    profile: name,
    price_usd,
    unit: 'call',
    max_bytes,
    retention_days,
    default: name === 'standard',
  });
  expect(json).toMatchObject({
    currency: 'USD',
    free: { mint: { price_usd: '0', path: '/v1/receipt/free' }, verify: { price_usd: '0', per_day: null } },
    profiles: [
      profile('nano', '0.0001', 600, 30),
      profile('standard', '0.0008', 3072, 365),
      profile('pq', '0.0012', null, 2557),
    ],
    metering: {
      path: '/v1/receipt/metering',
      price_usd: '0.0012',
      unit: 'call',
      max_bytes: null,
      retention_days: 2557,
    },
    anchor_tiers: [
      { tier: 'free', key_prefix: null, receipts: { count: 100, per: 'day' } },
      { tier: 'pro', key_prefix: 'k_pro_', receipts: { count: 50_000, per: 'month' } },
      { tier: 'scale', key_prefix: 'k_scale_', receipts: null },
      { tier: 'enterprise', key_prefix: 'k_ent_', receipts: null },
    ],
  });
});
