import { readFileSync, writeFileSync } from 'node:fs';
import { errorTable, type JsonObject, keysOfDidDocument, TallyError } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { rotateKey, signerFor } from '../../issuers/src/keyring.ts';
import { readKeyring, writeKeyring } from '../../issuers/src/keyring-file.ts';
import { newOperator, type TestOperator } from './operator-key.ts';
import { ALONE, apiKey, startTestService, type TestService } from './service.ts';
import { newTenant, type TestTenant } from './tenant.ts';

/** What this release answers. A route that is added is added here. */
const ROUTES = [
  'DELETE /mcp',
  'DELETE /v1/compute/calls/{id}/content',
  'DELETE /v1/keys/{id}',
  'DELETE /v1/webhooks/{id}',
  'GET /',
  'GET /.well-known/did.json',
  'GET /.well-known/issuers/{file}',
  'GET /.well-known/scitt-keys',
  'GET /.well-known/scitt-keys/{kid}',
  'GET /.well-known/security.txt',
  'GET /.well-known/trust.json',
  'GET /.well-known/trust/{file}',
  'GET /.well-known/x402',
  'GET /activity',
  'GET /activity/{id}',
  'GET /assets/{file}',
  'GET /balance',
  'GET /benchmark',
  'GET /checkpoint',
  'GET /docs',
  'GET /docs/errors',
  'GET /entries/{entry_id}',
  'GET /evidence',
  'GET /evidence/build',
  'GET /favicon.ico',
  'GET /favicon.svg',
  'GET /healthz',
  'GET /keys',
  'GET /leaderboard',
  'GET /llms.txt',
  'GET /log',
  'GET /members',
  'GET /metrics',
  'GET /openapi.json',
  'GET /operator',
  'GET /pricing',
  'GET /readyz',
  'GET /receipts',
  'GET /robots.txt',
  'GET /sessions',
  'GET /sessions/{id}',
  'GET /sitemap.xml',
  'GET /social.png',
  'GET /status',
  'GET /tenants/{id}/evidence',
  'GET /tenants/{id}/evidence/exports',
  'GET /tenants/{id}/receipts',
  'GET /tenants/{id}/receipts/counts',
  'GET /tile/{path}',
  'GET /usage',
  'GET /v1/anchor/by-hash/{hash}',
  'GET /v1/anchor/keys/orders/{order_id}',
  'GET /v1/anchor/{anchor_ref}',
  'GET /v1/anchor/{anchor_ref}/receipt.cbor',
  'GET /v1/anchors',
  'GET /v1/anchors/counts',
  'GET /v1/attestations/{sha256}',
  'GET /v1/balance',
  'GET /v1/balance/entries',
  'GET /v1/balance/statement',
  'GET /v1/balance/withdrawals',
  'GET /v1/compute',
  'GET /v1/compute/benchmark',
  'GET /v1/compute/benchmark/modality',
  'GET /v1/compute/benchmark/semantic',
  'GET /v1/compute/benchmark/temporal',
  'GET /v1/compute/calls',
  'GET /v1/compute/calls/counts',
  'GET /v1/compute/calls/live',
  'GET /v1/compute/calls/{id}',
  'GET /v1/compute/calls/{id}/content',
  'GET /v1/compute/compression/stats',
  'GET /v1/compute/member/leaderboard',
  'GET /v1/compute/member/verify/{did}',
  'GET /v1/compute/models',
  'GET /v1/compute/models/{id}',
  'GET /v1/compute/usage/{did}',
  'GET /v1/compute/v1/models',
  'GET /v1/compute/v1/models/{id}',
  'GET /v1/keys',
  'GET /v1/limits',
  'GET /v1/log',
  'GET /v1/log/leaves',
  'GET /v1/log/leaves/counts',
  'GET /v1/log/postings',
  'GET /v1/log/postings/counts',
  'GET /v1/operator/overview',
  'GET /v1/receipt/{id}',
  'GET /v1/receipt/{id}/corrections',
  'GET /v1/receipts',
  'GET /v1/receipts/counts',
  'GET /v1/rosetta/crosswalk',
  'GET /v1/sessions',
  'GET /v1/sessions/{id}',
  'GET /v1/status/history',
  'GET /v1/stream',
  'GET /v1/webhooks',
  'GET /v1/webhooks/{id}/deliveries',
  'GET /verify',
  'GET /webhooks',
  'PATCH /v1/keys/{id}',
  'PATCH /v1/webhooks/{id}',
  'POST /entries',
  'POST /mcp',
  'POST /tenants/{id}/receipts',
  'POST /v1/anchor',
  'POST /v1/anchor/batch',
  'POST /v1/anchor/keys',
  'POST /v1/anchor/keys/quote',
  'POST /v1/balance/quote',
  'POST /v1/balance/topup',
  'POST /v1/balance/withdrawals',
  'POST /v1/compute/chat/completions',
  'POST /v1/compute/completions',
  'POST /v1/compute/embeddings',
  'POST /v1/compute/estimate',
  'POST /v1/compute/feedback',
  'POST /v1/compute/member/register',
  'POST /v1/compute/messages',
  'POST /v1/compute/messages/count_tokens',
  'POST /v1/compute/responses',
  'POST /v1/compute/v1/messages',
  'POST /v1/compute/v1/messages/count_tokens',
  'POST /v1/issuers',
  'POST /v1/keys',
  'POST /v1/keys/{id}/rotate',
  'POST /v1/operator/models/{id}/rest',
  'POST /v1/operator/models/{id}/resume',
  'POST /v1/operator/providers/{id}/rest',
  'POST /v1/operator/providers/{id}/resume',
  'POST /v1/prospector/qualify',
  'POST /v1/receipt/corrections',
  'POST /v1/receipt/emit',
  'POST /v1/receipt/free',
  'POST /v1/receipt/metering',
  'POST /v1/receipt/verify',
  'POST /v1/receipts/verify',
  'POST /v1/rosetta/normalize',
  'POST /v1/rubric/select',
  'POST /v1/sessions',
  'POST /v1/sessions/{id}/receipts',
  'POST /v1/stream/heads',
  'POST /v1/webhooks',
  'POST /v1/webhooks/{id}/deliveries/{delivery}/repeat',
  'POST /v1/webhooks/{id}/rotate',
  'POST /v1/webhooks/{id}/test',
];

interface Answered {
  readonly $ref?: string;
  readonly content?: Record<string, { schema: JsonObject }>;
}

interface Operation {
  readonly 'x-availability': string;
  readonly summary: string;
  readonly responses: Record<string, Answered>;
  readonly parameters?: { name: string; in: string }[];
  readonly requestBody?: JsonObject;
}

/** They answer 201. */
const CREATES = new Set(['/v1/issuers', '/v1/keys', '/v1/sessions', '/v1/webhooks']);

/** Not here, where no payments are taken. */
const TAKES_MONEY = /^\/v1\/(?:anchor\/keys|balance)/;

let service: TestService;
let key: { authorization: string };
let partner: { authorization: string };
let tenant: TestTenant;
let operator: TestOperator;
let paths: Record<string, Record<string, Operation>>;
let shared: Record<string, Answered>;
beforeAll(async () => {
  service = await startTestService();
  key = await apiKey(service, 'scale');
  partner = await apiKey(service, 'partner');
  tenant = await newTenant(service);
  operator = await newOperator(service);
  const { json } = await service.get('/openapi.json');
  paths = json.paths as unknown as typeof paths;
  shared = (json.components as JsonObject)['responses'] as unknown as typeof shared;
});
afterAll(() => service.close());

const operations = () =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );

/** Their examples name what another request has made. */
const NEEDS_ANOTHER = new Set([
  '/v1/webhooks/{id}',
  '/v1/webhooks/{id}/rotate',
  '/v1/sessions/{id}/receipts',
  '/v1/compute/feedback',
  '/v1/receipt/corrections',
  '/v1/keys/{id}',
  '/v1/keys/{id}/rotate',
]);

describe('/openapi.json', () => {
  it('lists every route', () => {
    expect(
      operations()
        .map(({ route }) => route)
        .toSorted(),
    ).toEqual(ROUTES);
  });

  it('is OpenAPI 3.1 whose references lead somewhere', async () => {
    const { json, text } = await service.get('/openapi.json');
    expect(json).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Tallystick' },
      servers: [{ url: 'http://127.0.0.1:8787' }],
    });
    const components = json.components as Record<string, JsonObject>;
    const references = [...text.matchAll(/"\$ref":"#\/components\/(schemas|responses)\/([\w.]+)"/g)];
    for (const [, kind = '', name = ''] of references) expect(components[kind]).toHaveProperty([name]);
    expect(text.match(/"\$ref"/g)).toHaveLength(references.length);
  });

  it('declares the parameters of each path, and nothing twice', () => {
    for (const { path, operation } of operations()) {
      const named = operation.parameters ?? [];
      const declared = named.filter((one) => one.in === 'path').map(({ name }) => name);
      expect(declared, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      expect(new Set(named.map((one) => `${one.in} ${one.name}`)).size, path).toBe(named.length);
    }
  });

  it('lists problems with codes that exist, each under its status', () => {
    for (const { route, operation } of operations()) {
      expect(operation.summary, route).toMatch(/\S/);
      for (const [status, answer] of Object.entries(operation.responses)) {
        const { $ref } = answer;
        const { content } = ($ref === undefined ? answer : shared[$ref.split('/').at(-1) ?? '']) ?? {};
        expect(content !== undefined || Number(status) < 400, `${route} ${status}`).toBe(true);
        const problem = content?.['application/problem+json']?.schema as
          | { properties: { code: { enum: string[] } } }
          | undefined;
        for (const code of problem?.properties.code.enum ?? []) {
          expect(errorTable, `${route} ${code}`).toHaveProperty(code);
          expect(String(errorTable[code as keyof typeof errorTable].status), `${route} ${code}`).toBe(status);
        }
      }
    }
  });

  const idIn = (path: string): string => {
    if (path.startsWith('/v1/operator/models/')) return 'local%2Fextract-1';
    return path.startsWith('/v1/operator/') ? 'local' : tenant.id;
  };

  it('has examples that work', async () => {
    for (const { route, path, operation } of operations()) {
      const body = operation.requestBody as { content: Record<string, { example?: JsonObject }> } | undefined;
      const example = body?.content['application/json']?.example;
      const isAlone = !path.endsWith('/verify') && !NEEDS_ANOTHER.has(path);
      if (example === undefined || !isAlone || TAKES_MONEY.test(path)) continue;
      const plain = operation['x-availability'] === 'pilot' ? partner : key;
      const credential = path.startsWith('/v1/operator/')
        ? operator.headers
        : path.startsWith('/tenants/')
          ? tenant.headers
          : plain;
      const headers = { accept: 'application/json, text/event-stream', ...credential };
      const { status, text } = await service.post(path.replace('{id}', idIn(path)), example, headers);
      expect(status, `${route} ${text}`).toBe(CREATES.has(path) ? 201 : 200);
    }
  });
});

describe('CORS', () => {
  it.each([
    ['/v1/receipt/verify', 'POST'],
    ['/v1/receipt/free', 'POST'],
    ['/pricing', 'GET'],
    ['/.well-known/trust.json', 'GET'],
    ['/v1/anchor', 'POST'],
    ['/v1/anchor/by-hash/x', 'GET'],
    ['/checkpoint', 'GET'],
    ['/tile/0/x001/002', 'GET'],
  ])('a page of any origin may call %s', async (path, method) => {
    const headers = {
      origin: 'https://elsewhere.example',
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,idempotency-key,authorization',
    };
    const preflight = await service.request(path, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toContain(method);
    expect(preflight.headers.get('access-control-allow-headers')).toBe(
      'content-type,idempotency-key,authorization',
    );
    expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('holds for answers, problems and what is not found alike', async () => {
    const replies = [
      await service.get('/pricing'),
      await service.get('/nowhere'),
      await service.post('/v1/receipt/free', {}),
      await service.request('/pricing', { method: 'DELETE' }),
    ];
    for (const { headers } of replies) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-expose-headers')).toContain('X-Receipt-Profile');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await service.request('/nowhere', { method: 'OPTIONS' })).status).toBe(404);
  });
});

it('/.well-known/did.json holds the receipt keys under the service’s did:web', async () => {
  const { json, headers } = await service.get('/.well-known/did.json');
  expect(headers.get('content-type')).toMatch(/json/);
  expect(json).toMatchObject({ id: 'did:web:127.0.0.1%3A8787', alsoKnownAs: ['did:svc:local'] });
  const keys = keysOfDidDocument(json, 'did:web:127.0.0.1%3A8787');
  expect(keys.map(({ publicKey }) => publicKey)).toEqual([
    service.services.issuer.signer('receipt').publicKey,
  ]);
});

it('is not ready while a keyring that was changed can’t be read', async () => {
  const { path } = service.config.keyring;
  const whole = readFileSync(path);
  writeFileSync(path, '{}');
  const ready = () => service.get('/readyz');
  await expect.poll(ready).toMatchObject({
    status: 503,
    json: { checks: { trust: 'the keyring was changed and can’t be read: see the log of this process' } },
  });
  writeFileSync(path, whole);
  await expect.poll(ready).toMatchObject({ status: 200 });
});

it.runIf(ALONE)('publishes a rotation though the database failed when it was noticed', async () => {
  const own = await startTestService();
  onTestFinished(() => own.close());
  const { path, passphrase } = own.config.keyring;
  const { store } = own.services;
  const put = store.putDocument.bind(store);
  const down = new TallyError('unavailable', 'The database cannot be reached at the moment.');
  let failures = 0;
  vi.spyOn(store, 'putDocument').mockImplementation((name, ...rest) =>
    name === 'trust' && failures++ === 0 ? Promise.reject(down) : put(name, ...rest),
  );
  const rotated = await rotateKey(await readKeyring(path, passphrase), 'receipt', own.clock());
  writeKeyring(path, rotated, passphrase);
  const bundle = async (): Promise<string> => (await own.get('/.well-known/trust.json')).text;
  await expect.poll(bundle).toContain(signerFor(rotated, 'receipt').keyId);
  expect(failures).toBe(2);
});

it('liveness, readiness, metrics and the list of errors answer', async () => {
  expect((await service.get('/healthz')).json).toEqual({ status: 'ok' });
  await expect
    .poll(async () => (await service.get('/readyz')).json)
    .toEqual({
      status: 'ok',
      checks: { store: 'ok', log: 'ok', posting: 'ok', chain: 'ok', trust: 'ok' },
    });
  await service.get('/v1/receipt/r_nano_1803902400_0123456789ab');
  const { text } = await service.get('/metrics');
  expect(text).toMatch(/^anchor_log_accepted_leaves \d+$/m);
  expect(text).toContain('http_requests_total{route="/v1/receipt/{id}",method="GET",status="404"} 1');
  expect(text).not.toContain('0123456789ab');
  for (const code of Object.keys(errorTable))
    expect((await service.get('/docs/errors')).text).toContain(`id="${code}"`);
});

it('a request id is taken over when it is sane, and made otherwise', async () => {
  const idFor = async (given: string) =>
    (await service.get('/healthz', { 'x-request-id': given })).headers.get('x-request-id');
  expect(await idFor('trace-7.a:b')).toBe('trace-7.a:b');
  expect(await idFor('no spaces')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idFor('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
});
