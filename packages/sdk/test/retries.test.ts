import { TallyError } from '@tallystick/core';
import { describe, expect, test } from 'vitest';
import { type Client, type ClientOptions, createClient, ServiceError } from '../src/index.ts';
import { answer, hangUp, keepSilent, type Loopback, loopback, stallInTheBody } from './loopback.ts';

const problem = (code: string, more: object = {}) => ({ code, detail: `It is ${code}.`, ...more });
const busy = answer(503, problem('unavailable'));
const good = answer(200, { profiles: [] });

const clientOf = ({ url }: Loopback, options: Partial<ClientOptions> = {}): Client =>
  createClient({ baseUrl: url, ...options });

const mint = (client: Client, call = {}) => client.mintFree({ input: 'x', purpose: 'p' }, call);

async function failureOf(promise: Promise<unknown>): Promise<ServiceError> {
  const error = await promise.then(
    () => expect.unreachable(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  return error as ServiceError;
}

describe('retries', () => {
  test.each([
    ['503', busy],
    ['429', answer(429, problem('rate_limited'))],
    ['502 of a proxy', answer(502, '<html>')],
    ['504 of a proxy', answer(504, '<html>')],
    ['a broken connection', hangUp],
  ])('after %s, with the same idempotency key and body', async (_, failure) => {
    const service = await loopback(failure, failure, answer(200, { made: true }));
    expect((await mint(clientOf(service))).receipt).toEqual({ made: true });
    expect(service.arrived).toHaveLength(3);
    expect(new Set(service.arrived.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(new Set(service.arrived.map(({ body }) => body))).toEqual(
      new Set(['{"input":"x","purpose":"p"}']),
    );
  });

  test('end after as many as were asked for', async () => {
    const service = await loopback(busy);
    expect(await failureOf(mint(clientOf(service, { retries: 1 })))).toMatchObject({ status: 503 });
    expect(service.arrived).toHaveLength(2);
    expect(await failureOf(mint(clientOf(service, { retries: 0 })))).toMatchObject({ status: 503 });
    expect(service.arrived).toHaveLength(3);
  });

  test.each([400, 401, 404, 409, 422, 500])('are not made after %i', async (status) => {
    const service = await loopback(answer(status, problem('internal')));
    await failureOf(mint(clientOf(service)));
    expect(service.arrived).toHaveLength(1);
  });

  test('wait as long as Retry-After says', async () => {
    const service = await loopback(answer(429, problem('rate_limited'), { 'retry-after': '1' }), good);
    const started = performance.now();
    await clientOf(service).pricing();
    expect(performance.now() - started).toBeGreaterThanOrEqual(999);
  });

  test.each([
    ['seconds', () => '3600'],
    ['an HTTP date', () => new Date(Date.now() + 3_600_000).toUTCString()],
  ])('are left to the caller when Retry-After, in %s, is far away', async (_, value) => {
    const service = await loopback(answer(429, problem('rate_limited'), { 'retry-after': value() }), good);
    const error = await failureOf(clientOf(service).pricing());
    expect(error.code).toBe('rate_limited');
    expect(error.retryAfter).toBeGreaterThan(3_590);
    expect(error.retryAfter).toBeLessThanOrEqual(3_600);
    expect(service.arrived).toHaveLength(1);
  });

  test('are not made where the service says that they would not help', async () => {
    const final = answer(429, problem('budget_exceeded'), { 'x-should-retry': 'false' });
    const service = await loopback(final, good);
    expect(await failureOf(clientOf(service).pricing())).toMatchObject({ status: 429, final: true });
    expect(service.arrived).toHaveLength(1);
  });

  test('use a fresh key for each call, or the one given', async () => {
    const service = await loopback(answer(200));
    const client = clientOf(service);
    await mint(client);
    await mint(client);
    await mint(client, { idempotencyKey: 'mine' });
    const keys = service.arrived.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe('mine');
  });
});

describe('an abort', () => {
  test('before the call sends nothing', async () => {
    const service = await loopback(good);
    const reason = new Error('changed my mind');
    await expect(clientOf(service).pricing({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(service.arrived).toEqual([]);
  });

  test.each([
    ['no answer comes', keepSilent],
    ['the answer stalls', stallInTheBody],
    ['it waits for the next attempt', answer(503, problem('unavailable'), { 'retry-after': '30' })],
  ])('ends the call while %s', async (_, behaviour) => {
    const met = Promise.withResolvers<void>();
    const service = await loopback((response) => {
      behaviour(response);
      setImmediate(met.resolve);
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = clientOf(service).pricing({ signal: controller.signal });
    const outcome = call.catch((error: unknown) => error);
    await met.promise;
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    expect(service.arrived).toHaveLength(1);
  });
});

describe('a timeout', () => {
  test.each([
    ['silence', keepSilent],
    ['a stalled body', stallInTheBody],
  ])('ends an attempt that meets %s, and the next one may do better', async (_, behaviour) => {
    const service = await loopback(behaviour, good);
    expect(await clientOf(service, { timeoutMs: 2_000 }).pricing()).toEqual({ profiles: [] });
    expect(service.arrived).toHaveLength(2);
  });

  test.each([Infinity, 2 ** 31])('of %d ms does not end an attempt at once', async (timeoutMs) => {
    const service = await loopback(good);
    expect(await clientOf(service, { timeoutMs, retries: 0 }).pricing()).toEqual({ profiles: [] });
  });

  test('is told apart from nobody there', async () => {
    const service = await loopback(keepSilent);
    const error = await failureOf(clientOf(service, { retries: 0 }).pricing({ timeoutMs: 50 }));
    expect(error).toMatchObject({ code: 'unavailable', status: null, retryAfter: null });
    expect(error.message).toBe(`${service.url} did not answer within 50 ms.`);
    const nobody = await failureOf(createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 }).pricing());
    expect(nobody.message).toBe('Nothing answers at http://127.0.0.1:1.');
    expect(nobody.cause).toBeInstanceOf(Error);
  });
});

describe('a refusal', () => {
  test('is an error with all that the service said', async () => {
    const document = problem('invalid_field', { field: 'purpose', status: 422 });
    const service = await loopback(answer(422, document, { 'x-request-id': 'r-1' }));
    const error = await failureOf(mint(clientOf(service)));
    expect(error).toBeInstanceOf(TallyError);
    expect(error).toMatchObject({
      code: 'invalid_field',
      message: 'It is invalid_field.',
      field: 'purpose',
      status: 422,
      requestId: 'r-1',
      problem: document,
    });
  });

  test.each([
    ['a code of a newer service', 422, problem('from_the_future'), 'unavailable'],
    ['a code that is a member of every object', 422, problem('toString'), 'unavailable'],
    ['a web page', 200, '<!doctype html>', 'unavailable'],
    ['a web page that is not there', 404, '<!doctype html>', 'not_found'],
    ['the limit of a proxy', 413, '', 'body_too_large'],
    ['JSON with a member twice', 200, '{"a":1,"a":2}', 'unavailable'],
  ])('is understood as far as can be: %s', async (_, status, body, code) => {
    const service = await loopback(answer(status, body));
    expect(await failureOf(clientOf(service).pricing())).toMatchObject({ code, status });
  });

  test('to answer here is not followed, and the key is not carried along', async () => {
    const elsewhere = await loopback(good);
    const service = await loopback(answer(307, '', { location: `${elsewhere.url}/pricing` }));
    const error = await failureOf(clientOf(service, { apiKey: 'k_pro_secret' }).pricing());
    expect(error.message).toContain(`It redirects to ${elsewhere.url}/pricing`);
    expect(elsewhere.arrived).toEqual([]);
  });
});

describe('createClient', () => {
  test.each([
    '',
    'receipts.example.com',
    'ftp://a.example',
    'https://u:p@a.example',
    'https://a.example/?q',
    'https://a.example/#f',
  ])('refuses the base URL %j', (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(
      expect.objectContaining({ code: 'invalid_field', field: 'baseUrl' }),
    );
  });

  test('sends the key, the agent and the path below the base URL', async () => {
    const service = await loopback(good);
    const options = {
      baseUrl: `${service.url}/behind/`,
      apiKey: 'k_pro_x',
      agentDid: 'did:web:agent.example',
    };
    await createClient(options).pricing();
    const [arrived] = service.arrived;
    expect(arrived).toMatchObject({ method: 'GET', path: '/behind/pricing' });
    expect(arrived?.headers).toMatchObject({
      authorization: 'Bearer k_pro_x',
      'x-agent-did': 'did:web:agent.example',
    });
    expect(arrived?.headers).not.toHaveProperty('idempotency-key');
  });

  test('uses the fetch it is given', async () => {
    const urls: string[] = [];
    const fetch = async (url: string) => {
      urls.push(url);
      return Response.json({ profiles: [] });
    };
    await createClient({ baseUrl: 'https://receipts.example.com', fetch }).pricing();
    expect(urls).toEqual(['https://receipts.example.com/pricing']);
  });
});

describe('arguments', () => {
  test.each<[string, (client: Client) => Promise<unknown>]>([
    ['receiptId', (client) => client.getReceipt('\ud800')],
    ['receiptId', (client) => client.getCorrections('\ud800')],
    ['attestation', (client) => client.getAttestation('tdx:sha256:abc')],
    ['anchorRef', (client) => client.getAnchor('urn:anchor:\ud800')],
    ['anchorRef', (client) => client.getAnchorProof('urn:anchor:\ud800')],
    ['anchorRef', (client) => client.getCoseReceipt('urn:anchor:\ud800')],
    ['id', (client) => client.getCall('\ud800')],
    ['tenantId', (client) => client.listTenantReceipts('\ud800')],
    ['did', (client) => client.issuer('did:svc:\ud800')],
    ['idempotencyKey', (client) => mint(client, { idempotencyKey: 'schlüssel' })],
    ['idempotencyKey', (client) => mint(client, { idempotencyKey: '☃' })],
    ['idempotencyKey', (client) => mint(client, { idempotencyKey: 'a\nb' })],
    ['idempotencyKey', (client) => mint(client, { idempotencyKey: '' })],
    ['idempotencyKey', (client) => mint(client, { idempotencyKey: 'a'.repeat(256) })],
  ])('%s that no request can carry rejects', async (field, ask) => {
    const service = await loopback(good);
    const asked = new Promise((resolve) => resolve(ask(clientOf(service))));
    await expect(asked).rejects.toMatchObject({ name: 'TallyError', code: 'invalid_field', field });
    expect(service.arrived).toEqual([]);
  });

  test.each(['apiKey', 'agentDid', 'acceptCharge'])('%s that no header can carry rejects', async (field) => {
    const service = await loopback(good);
    const client = clientOf(service, { [field]: '☃' });
    await expect(mint(client)).rejects.toMatchObject({ name: 'TallyError', code: 'invalid_field', field });
  });
});

test.each([{}, { results: {} }, { results: [{ valid: true }] }])(
  'an answer without a result for each item is no answer: %j',
  async (body) => {
    const client = clientOf(await loopback(answer(200, body)));
    const refused = { code: 'unavailable', status: 200, message: expect.stringContaining('2 items') };
    expect(await failureOf(client.verifyMany(['{}', '{}']))).toMatchObject(refused);
    expect(await failureOf(client.anchorBatch(['00'.repeat(32), '11'.repeat(32)]))).toMatchObject(refused);
  },
);
