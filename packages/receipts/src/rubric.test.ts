import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../../server/test/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** A request, what it takes, and why: one JSON document a line. */
interface Case {
  readonly request: object;
  readonly profile: 'nano' | 'standard' | 'pq';
  readonly rule: string;
  readonly why: string;
}

const cases = readFileSync(new URL('rubric-cases.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);

describe('POST /v1/rubric/select (specification 4.1)', () => {
  it('has cases enough, each with its reason and none twice', () => {
    expect(cases.length).toBeGreaterThanOrEqual(120);
    expect(cases.every(({ why }) => why.length > 0)).toBe(true);
    expect(new Set(cases.map(({ request }) => JSON.stringify(request))).size).toBe(cases.length);
  });

  it.each(cases)('$request takes $profile: $why', async ({ request, profile, rule }) => {
    const { status, json } = await service.post('/v1/rubric/select', request);
    expect(status).toBe(200);
    expect(json).toMatchObject({ recommended_profile: profile, rule });
    expect(json.price_usd).toBe({ nano: '0.0001', standard: '0.0008', pq: '0.0012' }[profile]);
    expect(json.alternatives).toHaveLength(2);
  });

  it.each([
    [{ intent: 'a HIPAA record' }, 'The intent says “HIPAA”, which points to a regulated matter.'],
    [
      { counterparty: 'a regulated bank' },
      'The counterparty’s description says “regulated”, which points to a regulated party.',
    ],
    [
      { intent: 'not an audit, but a long retention' },
      'The intent says “retention”, and a standard receipt is kept for 365 days only.',
    ],
    [{ intent: 'ping' }, 'The intent is to verify (it says “ping”), and it mentions no deal.'],
    [{ amount: '0.0099' }, 'The amount is less than a cent.'],
  ])('%j: the reason names what decided', async (request, reason) => {
    const { json } = await service.post('/v1/rubric/select', request);
    expect(json.reason).toBe(reason);
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
      { tier: 'free', key_prefix: null, receipts: null, verifier_available: true },
      {
        tier: 'pro',
        key_prefix: 'k_pro_',
        receipts: { count: 50_000, per: 'month' },
        verifier_available: true,
      },
      { tier: 'scale', key_prefix: 'k_scale_', receipts: null },
      { tier: 'enterprise', key_prefix: 'k_ent_', receipts: null, verifier_available: false },
    ],
  });
});
