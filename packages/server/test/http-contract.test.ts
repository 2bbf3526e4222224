import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { JsonObject } from '@tallystick/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf } from '../../../e2e/openapi-document.ts';
import {
  ALONE,
  apiKey,
  expectProblem,
  type Reply,
  receiptIdOf,
  startTestService,
  type TestService,
  toReply,
} from './service.ts';
import { newTenant, type TestTenant } from './tenant.ts';

/** The contract of HTTP as clients see it: over connections to a service that really listens. */
let service: TestService;
let url: string;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startTestService();
  url = await service.listen();
  tenant = await newTenant(service);
});
afterAll(() => service.close());

type Headers = Readonly<Record<string, string>>;

const ask = async (method: string, path: string, headers: Headers = {}, body?: string): Promise<Reply> =>
  toReply(await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) }));

const JSON_TYPE = { 'content-type': 'application/json' };

describe('a path that exists, asked by another method', () => {
  it.each([
    ['GET', '/v1/receipt/free', 'POST, OPTIONS'],
    ['HEAD', '/v1/receipt/free', 'POST, OPTIONS'],
    ['GET', '/v1/receipt/emit', 'POST, OPTIONS'],
    ['GET', '/v1/receipt/metering', 'POST, OPTIONS'],
    ['DELETE', '/v1/receipt/verify', 'POST, OPTIONS'],
    ['GET', '/v1/anchor/batch', 'POST, OPTIONS'],
    ['GET', '/v1/anchor/keys', 'POST, OPTIONS'],
    ['POST', '/v1/receipt/r_standard_1', 'GET, HEAD, OPTIONS'],
    ['GET', '/mcp', 'POST, DELETE, OPTIONS'],
  ])('%s %s is 405, and Allow is true', async (method, path, allow) => {
    const reply = await ask(method, path);
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow]);
    if (method !== 'HEAD') expectProblem(reply, 'method_not_allowed');
  });

  it('is said so to a preflight too', async () => {
    const reply = await ask('OPTIONS', '/v1/receipt/free');
    expect(reply.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
  });
});

describe('who may call is asked before what the body holds', () => {
  const UNKNOWN = { authorization: `Bearer k_pro_${'0'.repeat(32)}` };

  it.each([
    ['/v1/anchor', {}, 'api_key_missing'],
    ['/v1/anchor/batch', {}, 'api_key_missing'],
    ['/v1/anchor/batch', UNKNOWN, 'api_key_invalid'],
    ['/tenants/t_0123456789abcdef/receipts', {}, 'api_key_missing'],
    ['/tenants/t_0123456789abcdef/receipts', UNKNOWN, 'api_key_invalid'],
    ['/v1/rosetta/normalize', {}, 'api_key_missing'],
    ['/v1/rosetta/normalize', UNKNOWN, 'api_key_invalid'],
    ['/v1/prospector/qualify', {}, 'api_key_missing'],
    ['/v1/receipt/free', UNKNOWN, 'api_key_invalid'],
    ['/v1/receipt/emit?profile=none', UNKNOWN, 'api_key_invalid'],
    ['/v1/receipt/metering', UNKNOWN, 'api_key_invalid'],
    ['/v1/balance/quote', UNKNOWN, 'api_key_invalid'],
    ['/v1/balance/withdrawals', {}, 'signature_invalid'],
  ] as const)('%s %j', async (path, headers, code) => {
    for (const body of ['{', '{"unknown":1}', '']) {
      expectProblem(await ask('POST', path, { ...JSON_TYPE, ...headers }, body), code);
    }
    const typed = { ...headers, 'content-type': 'text/plain' };
    expectProblem(await ask('POST', path, typed, 'x'), code);
  });

  it.each(['/v1/compute/chat/completions', '/v1/compute/embeddings', '/v1/compute/estimate'])(
    '%s, in OpenAI’s form too',
    async (path) => {
      const { status, json } = await ask('POST', path, { ...JSON_TYPE, ...UNKNOWN }, '{');
      expect([status, json]).toMatchObject([
        401,
        { code: 'api_key_invalid', error: { code: 'invalid_api_key' } },
      ]);
    },
  );

  it('a partner’s route refuses another key before it reads', async () => {
    const key = await apiKey(service, 'pro');
    expectProblem(await ask('POST', '/v1/rosetta/normalize', { ...JSON_TYPE, ...key }, '{'), 'partner_only');
  });
});

// Caddy asks for the body itself.
it.runIf(ALONE)('a body that is announced too large is refused before it is sent', async () => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const lines = ['POST /v1/receipt/free HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
  socket.write([...lines, 'Content-Length: 3000000000', 'Expect: 100-continue', '', ''].join('\r\n'));
  const answer = await readText(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*"code":"body_too_large"/);
});

it('payments that are off are no fault of the moment', async () => {
  const lines = { 'x-request-id': 'off' };
  for (const [path, body] of [
    ['/v1/anchor/keys', { tier: 'pro' }],
    ['/v1/anchor/keys/quote', { tier: 'pro', contact: 'a@example.com' }],
    ['/v1/balance/quote', { amount: '1' }],
    ['/v1/balance/topup', { amount: '1' }],
  ] as const) {
    expectProblem(await ask('POST', path, { ...JSON_TYPE, ...lines }, JSON.stringify(body)), 'payments_off');
  }
});

describe('what a cache may keep', () => {
  it('a tenant’s receipt is for its key alone, and its absence for nobody', async () => {
    const body = JSON.stringify({ input: 'x', purpose: 'p' });
    const minted = await ask(
      'POST',
      `/tenants/${tenant.id}/receipts`,
      { ...JSON_TYPE, ...tenant.headers },
      body,
    );
    const path = `/v1/receipt/${receiptIdOf(minted.text)}`;
    const own = await ask('GET', path, tenant.headers);
    expect(own.text).toBe(minted.text);
    for (const reply of [own, await ask('GET', path)]) {
      expect(reply.headers.get('cache-control')).toBe('private, no-store');
      expect(reply.headers.get('vary')).toBe('Authorization');
    }
  });

  it('a tenant’s exports likewise', async () => {
    const reply = await ask('GET', `/tenants/${tenant.id}/evidence/exports`, tenant.headers);
    expect(reply.headers.get('cache-control')).toBe('private, no-store');
    expect(reply.headers.get('vary')).toBe('Authorization');
  });

  it('what a caller is shown for a credential is kept by none, whichever header carries it', async () => {
    const document = (await ask('GET', '/openapi.json')).json;
    const paths = document['paths'] as Record<string, { get?: { security?: JsonObject[] } }>;
    const personal = Object.entries(paths).filter(([path, { get }]) => {
      const named = (get?.security ?? []).some((one) => Object.keys(one).length > 0);
      return named && !path.startsWith('/tenants/') && path !== '/v1/compute/calls/live';
    });
    expect(personal.length).toBeGreaterThan(20);
    const key = await apiKey(service, 'pro');
    const carried = { 'x-api-key': key.authorization.slice('Bearer '.length) };
    for (const [path] of personal) {
      const { status, headers } = await ask('GET', path.replaceAll(/\{\w+\}/g, 'did:web:a.example'), carried);
      expect(headers.get('cache-control'), `${path} ${status}`).toContain('no-store');
    }
  });

  it.each([
    '/v1/receipt/r_standard_1',
    '/v1/anchor/by-hash/n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
    '/.well-known/issuers/did:svc:nobody.json',
    '/tile/0/999',
    '/v1/receipt/free',
    '/nowhere',
  ])('the refusal of %s is kept by none: what is absent now may be there later', async (path) => {
    const { status, headers } = await ask('GET', path);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers.get('cache-control')).toContain('no-store');
  });

  it('anybody’s receipt may be kept', async () => {
    const minted = await ask('POST', '/v1/receipt/free', JSON_TYPE, '{"input":"x","purpose":"p"}');
    const reply = await ask('GET', `/v1/receipt/${receiptIdOf(minted.text)}`);
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, null]);
  });
});

describe('answers are what the OpenAPI document says', () => {
  /** Fails unless the content type is documented, and the body fits its schema. */
  async function expectDocumented(reply: Reply, method: string, path: string): Promise<void> {
    const document = (await ask('GET', '/openapi.json')).json;
    const operation = (document['paths'] as Record<string, Record<string, JsonObject>>)[path]?.[method];
    type Answers = Record<string, { $ref?: string; content?: Record<string, JsonObject> }>;
    const responses = operation?.['responses'] as Answers;
    const shared = (document['components'] as JsonObject)['responses'] as Answers;
    const said = responses[reply.status];
    const { content } = (said?.$ref === undefined ? said : shared[said.$ref.split('/').at(-1) ?? '']) ?? {};
    const type = reply.headers.get('content-type')?.split(';')[0] ?? '';
    const schema = content?.[type]?.['schema'] as JsonObject | undefined;
    expect(schema, `${method} ${path} ${reply.status} ${type}`).toBeDefined();
    const ajv = new Ajv2020({ strict: false, formats: { uri: true } });
    const validate = ajv.compile({ ...schema, components: document['components'] });
    expect(validate(reply.json), JSON.stringify(validate.errors)).toBe(true);
  }

  it('every header that it names may be read by a page of any origin', async () => {
    const reply = await ask('GET', '/openapi.json');
    const named = operationsOf(reply.json)
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap(({ headers = {} }) => Object.keys(headers));
    const exposed = reply.headers.get('access-control-expose-headers')?.split(', ') ?? [];
    // Pages may read Cache-Control without being told (Fetch, section 2.2.2).
    expect(named.filter((name) => ![...exposed, 'Cache-Control'].includes(name))).toEqual([]);
    expect(named).toContain('Location');
  });

  it('every read that takes X-Accept-Charge names its 402', async () => {
    const { paths } = (await ask('GET', '/openapi.json')).json as unknown as {
      paths: Record<string, Record<string, { parameters?: { name: string }[]; responses: JsonObject }>>;
    };
    const reads = Object.entries(paths).flatMap(([path, operations]) =>
      Object.values(operations)
        .filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'X-Accept-Charge'))
        .map(({ responses }) => ({ path, refusal: responses['402'] })),
    );
    expect(reads.length).toBeGreaterThan(5);
    expect(reads.filter(({ refusal }) => refusal === undefined)).toEqual([]);
  });

  it('of the compression’s totals, without a caller', async () => {
    const reply = await ask('GET', '/v1/compute/compression/stats');
    expect(reply.json).toMatchObject({ caller: null });
    await expectDocumented(reply, 'get', '/v1/compute/compression/stats');
  });

  it('of the did:web document', async () => {
    await expectDocumented(await ask('GET', '/.well-known/did.json'), 'get', '/.well-known/did.json');
  });

  it('of what /mcp refuses', async () => {
    const accept = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const gone = { ...accept, 'mcp-session-id': 'gone' };
    const replies = [
      [400, await ask('POST', '/mcp', accept, '{')],
      [400, await ask('POST', '/mcp', accept, ping)],
      [404, await ask('POST', '/mcp', gone, ping)],
      [415, await ask('POST', '/mcp', { ...accept, 'content-type': 'text/plain' }, 'x')],
    ] as const;
    for (const [status, reply] of replies) {
      expect(reply.status).toBe(status);
      await expectDocumented(reply, 'post', '/mcp');
    }
    const ended = await ask('DELETE', '/mcp', gone);
    expect(ended.status).toBe(404);
    await expectDocumented(ended, 'delete', '/mcp');
  });
});
