import { afterEach, describe, expect, it } from 'vitest';
import {
  apiKey,
  DATABASES,
  expectProblem,
  startTestService,
  type TestService,
  testClock,
  toReply,
} from './service.ts';

const FREE = '/v1/receipt/free';
const BODY = { input: 'x', purpose: 'p' };
const MIDNIGHT = Date.UTC(2027, 2, 2);

let service: TestService;
afterEach(() => service.close());

describe.each(DATABASES)('free mint quota on %s', (database) => {
  const start = async (env = {}) => {
    const clock = testClock(MIDNIGHT - 90_000);
    service = await startTestService({ database, clock, env: { TALLY_FREE_MINT_PER_DAY: '3', ...env } });
    return service;
  };

  it('allows the limit, then says when to come back, and opens at midnight UTC', async () => {
    await start();
    for (const left of [2, 1, 0]) {
      const reply = await service.post(FREE, BODY);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('ratelimit-policy')).toBe('"free-mint";q=3;w=86400');
      expect(reply.headers.get('ratelimit')).toBe(`"free-mint";r=${left};t=90`);
    }
    const refused = await service.post(FREE, BODY);
    expectProblem(refused, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('90');
    expect(refused.headers.get('ratelimit')).toBe('"free-mint";r=0;t=90');
    service.clock.advance(89_999);
    expectProblem(await service.post(FREE, BODY), 'rate_limited');
    service.clock.advance(1);
    expect((await service.post(FREE, BODY)).status).toBe(200);
  });

  it('counts over restarts', async () => {
    await start();
    for (let i = 0; i < 3; i++) await service.post(FREE, BODY);
    await service.restart();
    expectProblem(await service.post(FREE, BODY), 'rate_limited');
  });

  it('does not count replays, bad input, emits or reads', async () => {
    await start();
    const headers = { 'idempotency-key': 'k' };
    const { text } = await service.post(FREE, BODY, headers);
    for (let i = 0; i < 5; i++) {
      expect((await service.post(FREE, BODY, headers)).text).toBe(text);
      expectProblem(await service.post(FREE, { ...BODY, input: '' }), 'empty_input', 'input');
      expectProblem(
        await service.post(FREE, BODY, { 'x-agent-did': 'nobody' }),
        'invalid_field',
        'X-Agent-DID',
      );
      expectProblem(await service.post(FREE, { ...BODY, purpose: 'q' }, headers), 'idempotency_key_reused');
      expect((await service.post('/v1/receipt/emit', { input: 'x' })).status).toBe(200);
    }
    expect((await service.post(FREE, BODY)).headers.get('ratelimit')).toMatch(/r=1;/);
    expect((await service.post(FREE, BODY)).headers.get('ratelimit')).toMatch(/r=0;/);
    expectProblem(await service.post(FREE, BODY), 'rate_limited');
    expect((await service.post(FREE, BODY, headers)).text).toBe(text);
  });

  it('is exact when many come at once', async () => {
    await start();
    const replies = await Promise.all(Array.from({ length: 30 }, () => service.post(FREE, BODY)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(27);
  });

  it('is each address’s own, and can’t be escaped by headers that callers write themselves', async () => {
    await start({ TALLY_TRUSTED_PROXIES: '127.0.0.1' });
    const url = `${await service.listen()}${FREE}`;
    const mint = async (headers: Record<string, string>) => {
      const init = { method: 'POST', body: JSON.stringify(BODY) };
      return toReply(
        await fetch(url, { ...init, headers: { 'content-type': 'application/json', ...headers } }),
      );
    };
    const from = (address: string, more = {}) => mint({ 'x-forwarded-for': address, ...more });
    for (let i = 0; i < 3; i++) expect((await from('192.0.2.1')).status).toBe(200);
    expectProblem(await from('192.0.2.1'), 'rate_limited');
    expectProblem(await from('192.0.2.1', { authorization: 'Bearer made-up' }), 'api_key_invalid');
    expectProblem(await from('192.0.2.1', { authorization: 'Basic made-up' }), 'rate_limited');
    expect((await from('192.0.2.1', await apiKey(service, 'pro'))).status).toBe(200);
    expectProblem(await from('192.0.2.1', { 'x-agent-did': 'did:web:another' }), 'rate_limited');
    expectProblem(await from('203.0.113.7, 192.0.2.1'), 'rate_limited');
    expect((await from('192.0.2.2')).status).toBe(200);
    for (let i = 0; i < 3; i++) expect((await from(`2001:db8::${i}`)).status).toBe(200);
    expectProblem(await from('2001:db8::ffff'), 'rate_limited');
    expect((await from('2001:db8:0:1::1')).status).toBe(200);
  });
});

it('has no limit in development, and says so in the prices', async () => {
  service = await startTestService();
  const replies = await Promise.all(Array.from({ length: 150 }, () => service.post(FREE, BODY)));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect(replies[0]?.headers.has('ratelimit')).toBe(false);
  expect((await service.get('/pricing')).json.free).toMatchObject({ mint: { per_day: null } });
});
