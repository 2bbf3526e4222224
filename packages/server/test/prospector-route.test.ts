import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../src/app/listen.ts';
import { testFrame } from './frame.ts';
import { freePort } from './free-port.ts';
import { ALONE, apiKey, expectProblem, runningClock, startTestService, type TestService } from './service.ts';

const PATH = '/v1/prospector/qualify';

let service: TestService;
let partner: { authorization: string };
let origin: string;
beforeAll(async () => {
  service = await startTestService({ env: { TALLY_FREE_MINT_PER_DAY: '1000' } });
  partner = await apiKey(service, 'partner');
  origin = await service.listen();
});
afterAll(() => service.close());

describe('who may ask', () => {
  it('nobody without a key, and no key of a tier', async () => {
    const without = await service.post(PATH, { origin });
    expectProblem(without, 'api_key_missing');
    expect(without.headers.get('www-authenticate')).toBe('Bearer');
    expectProblem(await service.post(PATH, { origin }, await apiKey(service, 'enterprise')), 'partner_only');
  });

  it('is told before anything is called', async () => {
    expectProblem(await service.post(PATH, { origin: 'https://10.0.0.1' }), 'api_key_missing');
  });
});

it('this very server qualifies', async () => {
  const reply = await service.post(PATH, { origin }, partner);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('cache-control')).toBe('no-store');
  expect(reply.json).toMatchObject({ type: 'svc-readiness-v1', origin, verdict: 'ready', score: 97 });
});

it('has no finding with payments on: what can be paid for is found, and challenges', async () => {
  // What it publishes names the port that it listens on.
  const port = await freePort();
  const env = {
    TALLY_DEVNET: 'on',
    TALLY_PAYMENTS: 'x402',
    TALLY_FREE_MINT_PER_DAY: '1000',
    PORT: `${port}`,
  };
  const paid = await startTestService({ clock: runningClock(), env });
  const open = async () => ({ fetch: paid.app.fetch, close: async () => {} });
  const served = await listen({ host: '127.0.0.1', port, open });
  const own = `http://127.0.0.1:${port}`;
  const { json } = await paid.post(PATH, { origin: own }, await apiKey(paid, 'partner'));
  expect(json).toMatchObject({ verdict: 'ready', score: 100, findings: [] });
  const { pricing } = (await paid.get('/v1/compute')).json;
  expect(pricing).toMatchObject({ payment: { protocol: 'x402', resources: `${own}/.well-known/x402` } });
  await served.close();
  await paid.close();
});

it('by its own descriptor too', async () => {
  const { json: descriptor } = await service.get('/v1/compute');
  const reply = await service.post(PATH, { descriptor: { ...descriptor, origin } }, partner);
  expect(reply.json).toMatchObject({ origin, verdict: 'ready' });
});

it.each([
  [{}, 'missing_field', 'origin'],
  [{ origin: 'example.com' }, 'invalid_field', 'origin'],
  [{ origin: 'https://example.com/path' }, 'invalid_field', 'origin'],
  [{ origin: 'https://example.com', descriptor: {} }, 'conflicting_fields', 'origin'],
  [{ descriptor: {} }, 'missing_field', 'descriptor.origin'],
  [{ url: 'https://example.com' }, 'unknown_field', 'url'],
  [{ origin: 'https://10.0.0.1' }, 'invalid_field', 'origin'],
  [{ origin: 'https://169.254.169.254' }, 'invalid_field', 'origin'],
  [{ origin: 'https://[::ffff:7f00:1]' }, 'invalid_field', 'origin'],
  [{ origin: 'http://10.0.0.1:8080' }, 'invalid_field', 'origin'],
] as const)('%j: %s', async (body, code, field) => {
  expectProblem(await service.post(PATH, body, partner), code, field);
});

// This limit is that of one process.
it.runIf(ALONE)('a partner may have two checks running, and is told when to come back', async () => {
  const asked = Promise.withResolvers<void>();
  let waiting = 0;
  const server = createServer(() => {
    waiting += 1;
    if (waiting === 2) asked.resolve();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const slow = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running = [1, 2].map(() => service.post(PATH, { origin: slow }, partner));
  await asked.promise;
  const third = await service.post(PATH, { origin }, partner);
  expectProblem(third, 'rate_limited');
  expect(third.headers.get('retry-after')).toBe('15');
  const other = await service.post(PATH, { origin }, await apiKey(service, 'partner'));
  expect(other.status).toBe(200);
  server.close();
  server.closeAllConnections();
  for (const reply of await Promise.all(running)) expect(reply.json).toMatchObject({ verdict: 'not_ready' });
  expect((await service.post(PATH, { origin }, partner)).status).toBe(200);
});

it('in production this machine is not called, and only https', async () => {
  const { prospectorRoutes } = await import('../src/routes/prospector.ts');
  const { createApi } = await import('../src/http/api.ts');
  const { config, clock, callers } = service.services;
  const api = createApi(testFrame());
  api.add(...prospectorRoutes({ config: { ...config, mode: 'production' }, clock, callers }));
  for (const asked of [
    origin,
    origin.replace('http:', 'https:'),
    'https://127.0.0.1',
    'https://localhost',
    'http://example.com',
  ]) {
    const reply = await api.app.request(PATH, {
      method: 'POST',
      headers: { ...partner, 'content-type': 'application/json' },
      body: JSON.stringify({ origin: asked }),
    });
    expect([asked, reply.status, ((await reply.json()) as { field?: string }).field]).toEqual([
      asked,
      422,
      'origin',
    ]);
  }
});
