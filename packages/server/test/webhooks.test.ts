import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWebhooks } from '../../callers/src/index.ts';
import { createApiKey, revokeApiKey } from '../../callers/src/manage-api-keys.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import { creditCaller } from '../../ledger/src/credit.ts';
import { startAnvil } from './anvil.ts';
import { MODEL, startRouted } from './compute.ts';
import { hashOf } from './hashes.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  runningClock,
  startTestService,
  type TestService,
} from './service.ts';
import { newTenant } from './tenant.ts';

interface Got {
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly path: string;
}

let service: TestService;
let got: Got[];
let answer: (response: ServerResponse, request: IncomingMessage) => void;
let origin: string;
const receiver = createServer((request, response) => void receive(request, response));
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  got.push({ headers: request.headers as Record<string, string>, body, path: request.url ?? '' });
  answer(response, request);
}

beforeEach(async () => {
  got = [];
  answer = (response) => response.writeHead(204).end();
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterEach(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => void receiver.close(resolve));
  await service.close();
});

type Headers = Record<string, string>;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function hook(headers: Headers, events: string[] = ['key.revoked'], path = '/') {
  const made = await service.post('/v1/webhooks', { url: `${origin}${path}`, events }, headers);
  expect(made.status, made.text).toBe(201);
  return made.json as { id: string; secret: string };
}

const send = (path: string, method: string, headers: Headers, body?: object) =>
  service.request(path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });

async function tested(id: string, headers: Headers) {
  const reply = await service.post(`/v1/webhooks/${id}/test`, '', headers);
  expect(reply.status, reply.text).toBe(202);
  await service.services.webhooks.step();
}

const deliveriesOf = async (id: string, headers: Headers) =>
  (await service.get(`/v1/webhooks/${id}/deliveries`, headers)).json?.['data'] as Record<string, unknown>[];

const repeated = (id: string, delivery: string, headers: Headers) =>
  service.post(`/v1/webhooks/${id}/deliveries/${delivery}/repeat`, '', headers);

/** What the official library reads of a request, by the real time. */
function verified({ secret }: { secret: string }, { headers, body }: Got) {
  return new Webhook(secret).verify(body, headers) as { type: string; data: Record<string, unknown> };
}

describe.each(DATABASES)('webhooks on %s', (database) => {
  it('send what happened to their owner, signed as Standard Webhooks says, also after a restart', async () => {
    service = await startTestService({ database, clock: Object.assign(() => Date.now(), { advance() {} }) });
    const { store, issuer } = service.services;
    const { apiKeySecret } = withApiKeySecret(issuer.keyring);
    const { id: key, key: bearer } = await createApiKey(store, apiKeySecret, {
      tier: 'pro',
      label: null,
      now: Date.now(),
    });
    const owner = { authorization: `Bearer ${bearer}` };
    const mine = await hook(owner);
    await hook(await apiKey(service, 'pro'), ['key.revoked'], '/of-somebody-else');
    await service.services.webhooks.close();
    await revokeApiKey(store, key, Date.now());
    await service.restart();
    await service.services.webhooks.step();
    expect(got).toHaveLength(1);
    const [first] = got as [Got];
    expect(verified(mine, first)).toMatchObject({ type: 'key.revoked', data: { key_id: key } });
    expect(() => verified({ secret: `whsec_${'A'.repeat(43)}=` }, first)).toThrow('No matching signature');
    expect(() => verified(mine, { ...first, body: `${first.body} ` })).toThrow('No matching signature');
    await revokeApiKey(service.services.store, key, Date.now());
    await service.services.webhooks.step();
    expect(got).toHaveLength(1);
  });

  it('tell the owner of an account that the operator revoked a key which it made', async () => {
    service = await startTestService({ database });
    const owner = await apiKey(service, 'pro');
    await hook(owner);
    const made = (await service.post('/v1/keys', {}, owner)).json as { id: string };
    await revokeApiKey(service.services.store, made.id, service.clock());
    await service.services.webhooks.step();
    expect(got.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { type: 'key.revoked', data: { key_id: made.id } },
    ]);
  });

  it('take a hundred tests and a hundred repetitions a day of one account, however many webhooks it makes', async () => {
    service = await startTestService({ database });
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    for (let sent = 0; sent < 99; sent++)
      expect((await service.post(`/v1/webhooks/${id}/test`, '', owner)).status).toBe(202);
    await tested(id, owner);
    const [delivery] = await deliveriesOf(id, owner);
    for (let sent = 0; sent < 100; sent++)
      expect((await repeated(id, String(delivery?.['id']), owner)).status).toBe(202);
    expectProblem(await repeated(id, String(delivery?.['id']), owner), 'rate_limited');
    expect((await send(`/v1/webhooks/${id}`, 'DELETE', owner)).status).toBe(204);
    const { id: next } = await hook(owner);
    expectProblem(await service.post(`/v1/webhooks/${next}/test`, '', owner), 'rate_limited');
  });

  it('reach a receiver while another one has yet to answer', async () => {
    service = await startTestService({ database });
    const [slow, fast] = [await apiKey(service, 'pro'), await apiKey(service, 'pro')];
    const { promise: waiting, resolve: arrived } = Promise.withResolvers<ServerResponse>();
    answer = (response, { url }) =>
      url === '/slow' ? arrived(response) : void response.writeHead(204).end();
    const test = ({ id }: { id: string }, headers: Headers) =>
      service.post(`/v1/webhooks/${id}/test`, '', headers);
    await test(await hook(slow, ['key.revoked'], '/slow'), slow);
    const response = await waiting;
    await test(await hook(fast, ['key.revoked'], '/fast'), fast);
    await expect.poll(() => got.map(({ path }) => path), { timeout: 5_000 }).toEqual(['/slow', '/fast']);
    response.writeHead(204).end();
  });

  it('are signed by two secrets for a time after a rotation, then by the new one alone', async () => {
    const start = Date.now();
    let now = start;
    const clock = Object.assign(() => now, { advance: (ms: number) => void (now += ms) });
    service = await startTestService({ database, clock });
    const [owner, stranger] = [await apiKey(service, 'pro'), await apiKey(service, 'pro')];
    const first = await hook(owner);
    const path = `/v1/webhooks/${first.id}/rotate`;
    expectProblem(await send(path, 'POST', stranger, {}), 'webhook_not_found');
    expectProblem(
      await send(path, 'POST', owner, { grace_seconds: 604_801 }),
      'invalid_field',
      'grace_seconds',
    );
    const rotate = async (body: object): Promise<{ id: string; secret: string }> => {
      const reply = await send(path, 'POST', owner, body);
      expect(reply.status, reply.text).toBe(200);
      return reply.json as { id: string; secret: string };
    };
    const second = await rotate({ grace_seconds: 60 });
    const third = await rotate({ grace_seconds: 60 });
    expect(new Set([first.secret, second.secret, third.secret]).size).toBe(3);
    const listed = (await service.get('/v1/webhooks', owner)).text;
    expect(JSON.parse(listed).data[0].previous_secret_until).toBe(new Date(start + 60_000).toISOString());
    for (const { secret } of [first, second, third]) expect(listed).not.toContain(secret);

    await tested(first.id, owner);
    const [message] = got as [Got];
    expect(message.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const { secret } of [second, third]) expect(verified({ secret }, message).type).toBe('webhook.test');
    expect(() => verified(first, message)).toThrow('No matching signature');

    clock.advance(60_000);
    await tested(first.id, owner);
    const [, later] = got as [Got, Got];
    expect(verified(third, later).type).toBe('webhook.test');
    expect(() => verified(second, later)).toThrow('No matching signature');
    expect((await service.get('/v1/webhooks', owner)).json).toMatchObject({
      data: [{ previous_secret_until: null }],
    });
    const day = await send(path, 'POST', owner, {});
    expect(day.json).toMatchObject({ previous_secret_until: new Date(now + 24 * HOUR).toISOString() });
  });

  it('are not managed with a key of the account that may not manage', async () => {
    service = await startTestService({ database });
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    const keyOf = async (manages: boolean): Promise<Headers> => {
      const { json } = await service.post('/v1/keys', { manages }, owner);
      return { authorization: `Bearer ${json['key'] as string}` };
    };
    const [worker, manager] = [await keyOf(false), await keyOf(true)];
    const path = `/v1/webhooks/${id}`;
    const body = { url: origin, events: ['key.revoked'] };
    const requests: [string, string, object?][] = [
      ['/v1/webhooks', 'GET'],
      ['/v1/webhooks', 'POST', body],
      [path, 'PATCH', { enabled: false }],
      [`${path}/rotate`, 'POST', {}],
      [`${path}/test`, 'POST'],
      [`${path}/deliveries`, 'GET'],
      [path, 'DELETE'],
    ];
    for (const [to, method, sent] of requests)
      expectProblem(await send(to, method, worker, sent), 'key_cannot_manage');
    expect((await service.get('/v1/webhooks', manager)).json).toMatchObject({
      data: [{ id, enabled: true }],
    });
    expect((await send(path, 'DELETE', manager)).status).toBe(204);
  });

  it('are seen and changed by their owner alone', async () => {
    service = await startTestService({ database });
    const [a, b] = [await apiKey(service, 'pro'), await apiKey(service, 'pro')];
    const tenant = await newTenant(service);
    const { id, secret } = await hook(a);
    const ofTenant = await hook(tenant.headers);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await tested(id, a);
    const message = String((await deliveriesOf(id, a))[0]?.['id']);
    for (const stranger of [b, tenant.headers]) {
      const listed = await service.get('/v1/webhooks', stranger);
      expect(listed.text).not.toContain(id);
      expectProblem(await service.get(`/v1/webhooks/${id}/deliveries`, stranger), 'webhook_not_found');
      expectProblem(await service.post(`/v1/webhooks/${id}/test`, '', stranger), 'webhook_not_found');
      expectProblem(await repeated(id, message, stranger), 'webhook_not_found');
      const path = `/v1/webhooks/${id}`;
      expectProblem(await send(path, 'PATCH', stranger, { enabled: false }), 'webhook_not_found');
      expectProblem(await send(path, 'DELETE', stranger), 'webhook_not_found');
    }
    const listed = await service.get('/v1/webhooks', a);
    expect(listed.json).toMatchObject({ data: [{ id, enabled: true }], next_cursor: null });
    expect(listed.text).not.toContain('whsec_');
    const rows = await service.services.store.webhooks.list('development');
    expect(rows).toEqual([]);
    expect(JSON.stringify(await service.services.store.webhooks.list(`tenant:${tenant.id}`))).not.toContain(
      ofTenant.secret.slice(6),
    );
    expect((await send(`/v1/webhooks/${id}`, 'DELETE', a)).status).toBe(204);
    expect((await service.get('/v1/webhooks', a)).json).toMatchObject({ data: [] });
  });
});

describe('a delivery', () => {
  beforeEach(async () => {
    service = await startTestService();
  });

  it('that fails is repeated with the same id for more than a day, then given up', async () => {
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    answer = (response) => response.writeHead(500).end('a secret of the receiver');
    await tested(id, owner);
    const began = service.clock();
    const pauses: number[] = [];
    for (;;) {
      const [delivery] = await deliveriesOf(id, owner);
      if (delivery?.['state'] !== 'waiting') break;
      const next = Date.parse(String(delivery['next_attempt_at']));
      pauses.push(next - service.clock());
      service.clock.advance(next - service.clock() - 1);
      await service.services.webhooks.step();
      expect(got).toHaveLength(pauses.length);
      service.clock.advance(1);
      await service.services.webhooks.step();
    }
    expect(service.clock() - began).toBeGreaterThan(24 * HOUR);
    expect(service.clock() - began).toBeLessThan(32 * HOUR);
    expect(pauses.every((pause, at) => pause > (pauses[at - 1] ?? 0))).toBe(true);
    expect(got).toHaveLength(11);
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(got.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(11);
    const [delivery] = await deliveriesOf(id, owner);
    expect(delivery).toMatchObject({
      type: 'webhook.test',
      state: 'failed',
      attempts: 11,
      status: 500,
      problem: 'The receiver answered 500.',
      next_attempt_at: null,
      message: { type: 'webhook.test', data: { webhook_id: id } },
    });
    expect(JSON.stringify(delivery)).not.toContain('secret');
  });

  it('is accepted at a later attempt, and the others do not wait for it', async () => {
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    answer = (response) => response.writeHead(got.length === 1 ? 503 : 200).end();
    await tested(id, owner);
    await tested(id, owner);
    expect(
      (await deliveriesOf(id, owner))
        .map(({ state }) => String(state))
        .toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(['delivered', 'waiting']);
    service.clock.advance(6_000);
    await service.services.webhooks.step();
    expect((await deliveriesOf(id, owner)).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect((await service.get('/v1/webhooks', owner)).json).toMatchObject({
      data: [{ failing_since: null }],
    });
  });

  it.each([301, 302, 307, 308])('that is redirected with %s is not followed', async (status) => {
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    answer = (response) => response.writeHead(status, { location: `${origin}/elsewhere` }).end();
    await tested(id, owner);
    expect(got.map(({ path }) => path)).toEqual(['/']);
    expect(await deliveriesOf(id, owner)).toMatchObject([{ state: 'waiting', status }]);
  });

  it('whose connection breaks has no status', async () => {
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    answer = (_, request) => request.socket.destroy();
    await tested(id, owner);
    expect(await deliveriesOf(id, owner)).toMatchObject([{ state: 'waiting', status: null, attempts: 1 }]);
  });

  it('to a webhook that answers 410 disables it, until its owner enables it again', async () => {
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    answer = (response) => response.writeHead(410).end();
    await tested(id, owner);
    expect((await service.get('/v1/webhooks', owner)).json).toMatchObject({
      data: [{ enabled: false, disabled_because: 'gone' }],
    });
    expectProblem(await service.post(`/v1/webhooks/${id}/test`, '', owner), 'webhook_disabled');
    const enabled = await send(`/v1/webhooks/${id}`, 'PATCH', owner, { enabled: true });
    expect(enabled.json).toMatchObject({ enabled: true, failing_since: null, events: ['key.revoked'] });
    answer = (response) => response.writeHead(200).end();
    service.clock.advance(1);
    await tested(id, owner);
    expect(await deliveriesOf(id, owner)).toMatchObject([{ state: 'delivered' }, { state: 'failed' }]);
  });

  it('is sent again with the same id when its owner says so', async () => {
    service = await startTestService({ clock: Object.assign(() => Date.now(), { advance() {} }) });
    const owner = await apiKey(service, 'pro');
    const made = await hook(owner);
    await tested(made.id, owner);
    const [first] = await deliveriesOf(made.id, owner);
    const message = String(first?.['id']);
    const reply = await repeated(made.id, message, owner);
    expect([reply.status, reply.json]).toEqual([202, { id: message }]);
    await service.services.webhooks.step();
    expect(got.map((one) => one.headers['webhook-id'])).toEqual([message, message]);
    expect(got.map((one) => one.body)).toEqual([got[0]?.body, got[0]?.body]);
    for (const one of got) expect(verified(made, one)).toMatchObject({ type: 'webhook.test' });
    expect(await deliveriesOf(made.id, owner)).toMatchObject([
      { id: message, state: 'delivered', attempts: 1 },
    ]);
    expectProblem(await repeated(made.id, 'msg_none', owner), 'not_found', 'delivery');
    expectProblem(await repeated(made.id, 'a%00b', owner), 'invalid_field', 'delivery');
    await send(`/v1/webhooks/${made.id}`, 'PATCH', owner, { enabled: false });
    expectProblem(await repeated(made.id, message, owner), 'webhook_disabled');
    await service.services.webhooks.step();
    expect(got).toHaveLength(2);
  });

  it('that is given up after three days without any accepted one disables the webhook', async () => {
    const owner = await apiKey(service, 'pro');
    const { id } = await hook(owner);
    answer = (response) => response.writeHead(500).end();
    for (let hours = 0; hours < 110; hours += 1) {
      if (hours % 30 === 0 && hours < 90) await tested(id, owner);
      service.clock.advance(HOUR);
      await service.services.webhooks.step();
    }
    expect((await service.get('/v1/webhooks', owner)).json).toMatchObject({
      data: [{ enabled: false, disabled_because: 'failing' }],
    });
  });
});

it('in production, no address of a private network is called, whatever its name', async () => {
  service = await startTestService();
  const owner = await apiKey(service, 'pro');
  const { id } = await hook(owner);
  const url = `https://hooks.example.com:${new URL(origin).port}/`;
  expect((await send(`/v1/webhooks/${id}`, 'PATCH', owner, { url })).status).toBe(200);
  await service.services.webhooks.close();
  const { store, issuer, logger, clock } = service.services;
  for (const address of ['127.0.0.1', '10.0.0.8', '169.254.169.254', '::1', '::ffff:192.168.0.1']) {
    const guarded = openWebhooks({
      store,
      issuer,
      logger,
      clock,
      mode: 'production',
      lowBalance: 1n,
      resolve: async () => [address],
    });
    await service.post(`/v1/webhooks/${id}/test`, '', owner);
    await guarded.step();
    await guarded.close();
    expect((await deliveriesOf(id, owner))[0]).toMatchObject({ status: null, attempts: 1 });
    service.clock.advance(1);
  }
  expect(got).toEqual([]);
});

it('a webhook that cannot be is refused, and the field is named', async () => {
  service = await startTestService();
  const owner = await apiKey(service, 'pro');
  for (const [change, code, field] of [
    [{ url: 'http://example.com/' }, 'invalid_field', 'url'],
    [{ url: 'https://me:secret@example.com/' }, 'invalid_field', 'url'],
    [{ url: 'https://example.com/#x' }, 'invalid_field', 'url'],
    [{ url: `https://example.com/${'x'.repeat(2_048)}` }, 'invalid_field', 'url'],
    [{ url: 'ftp://example.com/' }, 'invalid_field', 'url'],
    [{ events: [] }, 'invalid_field', 'events'],
    [{ events: ['call.made'] }, 'invalid_field', 'events[0]'],
    [{ secret: 'whsec_x' }, 'unknown_field', 'secret'],
  ] as const) {
    const body = { url: 'https://example.com/', events: ['balance.low'], ...change };
    expectProblem(await service.post('/v1/webhooks', body, owner), code, field);
  }
});

it('a caller has at most ten webhooks', async () => {
  service = await startTestService();
  const owner = await apiKey(service, 'pro');
  for (let made = 0; made < 10; made += 1) await hook(owner);
  const body = { url: origin, events: ['balance.low'] };
  expectProblem(await service.post('/v1/webhooks', body, owner), 'webhook_limit');
});

it('a balance that falls below the threshold is told once, until it has been above it again', async () => {
  service = await startTestService({ env: { TALLY_LOW_BALANCE: '5' } });
  const { store, webhooks, issuer } = service.services;
  const { apiKeySecret } = withApiKeySecret(issuer.keyring);
  const { id, key } = await createApiKey(store, apiKeySecret, {
    tier: 'pro',
    label: null,
    now: service.clock(),
  });
  await hook({ authorization: `Bearer ${key}` }, ['balance.low']);
  const account = `caller:${id}`;
  const move = async (posting: string, amount: bigint): Promise<string[]> => {
    await store.ledger.post({
      id: posting,
      memo: 'test',
      at: Math.floor(service.clock() / 1_000),
      entries: [
        { account, amount },
        { account: 'external', amount: -amount },
      ],
    });
    service.clock.advance(10_000);
    await webhooks.step();
    service.clock.advance(10_000);
    await webhooks.step();
    return got.map(({ body }) => JSON.parse(body).data.available);
  };
  service.clock.advance(10_000);
  await webhooks.step();
  expect(got).toEqual([]);
  expect(await move('in', 6_000_000_000n)).toEqual([]);
  expect(await move('out', -2_000_000_000n)).toEqual(['4']);
  expect(await move('more', -1_000_000_000n)).toEqual(['4']);
  expect(await move('up', 9_000_000_000n)).toEqual(['4']);
  expect(await move('again', -8_000_000_000n)).toEqual(['4', '4']);
});

describe.each(DATABASES)('a budget on %s', (database) => {
  it('that is used up is told once a day to the webhooks of the account, whoever spends it', async () => {
    const routed = await startRouted({ database });
    service = routed.service;
    const { store, webhooks, issuer } = service.services;
    const { apiKeySecret } = withApiKeySecret(issuer.keyring);
    const now = service.clock();
    const { id, key } = await createApiKey(store, apiKeySecret, { tier: 'pro', label: null, now });
    const owner = { authorization: `Bearer ${key}` };
    await creditCaller(store, { caller: id, amount: 10n ** 9n, reference: id, memo: 'paid in', now: 0 });
    await hook(owner, ['budget.reached'], '/owner');
    await hook(await apiKey(service, 'pro'), ['budget.reached'], '/of-somebody-else');
    const made = await service.post('/v1/keys', { limits: { day_usdc: '0.00002' } }, owner);
    const child = made.json as { id: string; key: string };
    const spend = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${child.key}` };
      for (let served = 0; ; served += 1)
        if ((await routed.chat({ model: MODEL, max_tokens: 20 }, headers)).status !== 200) return served;
    };
    const told = async (): Promise<Record<string, unknown>[]> => {
      await webhooks.step();
      return got.map(({ body }) => JSON.parse(body));
    };
    expect(await told()).toEqual([]);
    expect(await spend()).toBeGreaterThan(0);
    expect(await spend()).toBe(0);
    service.clock.advance(2 * MINUTE);
    expect(await spend()).toBe(0);
    await expect.poll(told).toMatchObject([
      {
        type: 'budget.reached',
        data: {
          spender: child.id,
          period: 'day',
          limit_usdc: '0.00002',
          spent_usdc: expect.stringMatching(/^0\.0000/),
          reserved_usdc: '0',
          resets_at: '2027-03-02T00:00:00Z',
        },
      },
    ]);
    service.clock.advance(24 * HOUR);
    expect(await spend()).toBeGreaterThan(0);
    await expect
      .poll(async () => (await told()).map(({ data }) => (data as Record<string, unknown>)['resets_at']))
      .toEqual(['2027-03-02T00:00:00Z', '2027-03-03T00:00:00Z']);
    expect(new Set(got.map(({ path }) => path))).toEqual(new Set(['/owner']));
    await routed.upstream.close();
  });
});

describe.each(DATABASES)('a posting on %s', (database) => {
  it('that is final on the chain is told once, the first one too, to every webhook that asks for it', async () => {
    const anvil = await startAnvil();
    const period = 50;
    service = await startTestService({
      database,
      clock: runningClock(),
      env: { TALLY_CHAIN_RPC_URL: anvil.rpcUrl, TALLY_ANCHOR_PERIOD_SECONDS: String(period) },
    });
    await anvil.rpc('anvil_setBalance', service.services.chain?.address, `0x${(10n ** 18n).toString(16)}`);
    const [owner, stranger] = [await apiKey(service, 'pro'), await apiKey(service, 'pro')];
    await hook(owner, ['anchor.final'], '/owner');
    await hook(stranger, ['anchor.final'], '/stranger');
    await hook(stranger, ['key.revoked'], '/other');
    const step = async (): Promise<void> => {
      service.clock.advance(10_000);
      await service.services.webhooks.step();
    };
    await step();
    expect(got).toEqual([]);
    const told = () => got.filter(({ path }) => path === '/owner');
    /** Anchors a hash, and waits until so many messages are there. */
    const anchored = async (text: string, messages: number): Promise<void> => {
      const reply = await service.post('/v1/anchor', { canonical_sha256: hashOf(text) }, owner);
      expect(reply.status, reply.text).toBe(200);
      service.clock.advance(period * 1_000);
      // Until then the clock does not leap: the lease of who leads the log would be over each time.
      await expect
        .poll(() => service.services.store.log.newestPosting())
        .toMatchObject({
          sequence: messages,
          state: 'finalized',
        });
      await expect.poll(() => step().then(told)).toHaveLength(messages);
    };
    await anchored('first', 1);
    await anchored('second', 2);
    await service.restart();
    await step();
    expect(got.map(({ path }) => path).toSorted()).toEqual(['/owner', '/owner', '/stranger', '/stranger']);
    const { json } = await service.get('/v1/log/postings');
    const postings = (json['data'] as Record<string, unknown>[]).toReversed();
    const messages = told().map(
      ({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> },
    );
    expect(messages).toEqual(
      postings.map((posting) => ({
        type: 'anchor.final',
        timestamp: expect.any(String),
        data: {
          sequence: posting['sequence'],
          tree_size: posting['tree_size'],
          root: String(posting['merkle_root']).replace('sha256:', ''),
          tx_hash: posting['tx_hash'],
          block_height: posting['block_height'],
          block_time: posting['block_time'],
        },
      })),
    );
    expect(messages.map(({ data }) => data['tree_size'])).toEqual([1, 2]);
    await anvil.stop();
  });
});
