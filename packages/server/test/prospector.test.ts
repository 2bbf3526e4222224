import { readFileSync } from 'node:fs';
import {
  type JsonObject,
  mintEnvelope,
  receiptId,
  signTrustBundle,
  type TrustBundle,
} from '@tallystick/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createGuardedFetch, type GuardedFetch } from '../../kit/src/guarded/guarded-fetch.ts';
import { guardPolicy } from '../../kit/src/guarded/policy.ts';
import { AREAS, FINDINGS, type FindingCode } from '../src/pilots/prospector/findings.ts';
import { qualify } from '../src/pilots/prospector/qualify.ts';
import type { Report } from '../src/pilots/prospector/report.ts';
import { testCertificate } from './certificate.ts';
import {
  encoded,
  type Fault,
  newSigner,
  type SurfaceServer,
  serveSurface,
  withHeader,
  withJson,
  without,
} from './prospector-servers.ts';
import { startTestService, type TestService, testClock } from './service.ts';

const DAY = 86_400_000;
/** Stands at a real time, since TLS goes by that one. */
const NOW = Date.now();
const certificate = testCertificate({ from: Date.UTC(2020, 0, 1), until: Date.UTC(2049, 0, 1) });
const expired = testCertificate({ from: Date.UTC(2020, 0, 1), until: Date.UTC(2021, 0, 1) });
const stranger = testCertificate({ from: Date.UTC(2020, 0, 1), until: Date.UTC(2049, 0, 1) });
const expiring = testCertificate({ from: Date.UTC(2020, 0, 1), until: NOW + 5 * DAY });
const authorities = certificate.cert + expired.cert + expiring.cert;
const policy = guardPolicy({ mode: 'development' });
const limits = { totalMs: 60_000, headMs: 60_000, drip: { windowMs: 500, bytes: 60 }, bodyBytes: 2_097_152 };

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    env: { TALLY_FREE_MINT_PER_DAY: '100000' },
    clock: testClock(NOW),
  });
});
afterAll(() => service.close());

const open: SurfaceServer[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function surface(options: Parameters<typeof serveSurface>[1]): Promise<SurfaceServer> {
  const server = await serveSurface(service, options);
  open.push(server);
  return server;
}

async function report(
  origin: string,
  {
    fetch = createGuardedFetch({ policy, ca: authorities, limits }),
    now = service.clock(),
    ...rest
  }: {
    fetch?: GuardedFetch;
    now?: number;
    descriptor?: JsonObject;
    signal?: AbortSignal;
    deadlineMs?: number;
  } = {},
): Promise<Report> {
  const { descriptor = null, signal = new AbortController().signal, deadlineMs = 60_000 } = rest;
  return qualify({ origin, descriptor }, { fetch, now, signal, deadlineMs });
}

const codes = ({ findings }: Report): string[] => findings.map(({ code }) => code);

it('a surface that is well has no finding, and every area is passed', async () => {
  const { origin } = await surface({ certificate });
  const { findings, areas, ...rest } = await report(origin);
  expect(findings).toEqual([]);
  expect(areas.map(({ area, state }) => [area, state]).filter(([, state]) => state !== 'passed')).toEqual([]);
  expect(rest).toMatchObject({ verdict: 'ready', score: 100, coverage: 100, complete: true });
});

it('this very server, as it is started', async () => {
  const origin = await service.listen();
  const found = await report(origin);
  expect(codes(found)).toEqual(['payment_not_offered']);
  expect(found).toMatchObject({ verdict: 'ready', score: 97, coverage: 85, complete: true });
  const states = found.areas
    .filter(({ state }) => state !== 'passed')
    .map(({ area, state }) => [area, state]);
  expect(states).toEqual([
    ['transport', 'not_checked'],
    ['payment', 'found'],
  ]);
});

describe('a rate limit', () => {
  /** Answers a route with 429, the first so many times. */
  const limiting = (route: RegExp, times: number, retryAfter: string | null): Fault => {
    let left = times;
    return (answer, request) => {
      if (!route.test(request.route) || left === 0) return;
      left -= 1;
      answer.status = 429;
      answer.body = JSON.stringify({ title: 'Too many requests', status: 429, code: 'rate_limited' });
      answer.headers.set('content-type', 'application/problem+json');
      if (retryAfter === null) answer.headers.delete('retry-after');
      else answer.headers.set('retry-after', retryAfter);
    };
  };

  it.each([
    ['names when to come back', '0'],
    ['names a date that is past', 'Thu, 01 Jan 2026 00:00:00 GMT'],
    ['names nothing', null],
  ])('that %s is waited for', async (_, retryAfter) => {
    const { origin, seen } = await surface({ certificate, fault: limiting(/free$/, 2, retryAfter) });
    expect(await report(origin)).toMatchObject({
      findings: [],
      verdict: 'ready',
      score: 100,
      complete: true,
    });
    expect(seen.filter((route) => route === 'POST /v1/receipt/free').length).toBeGreaterThan(2);
  });

  it.each([
    ['the mint', /free$/],
    ['the documents', /^GET \/(?:openapi|pricing|\.well-known)/],
    ['the tools', /mcp$/],
    ['everything', /./],
  ])(
    'that lasts longer than the check, of %s, is no finding but a check that is not complete',
    async (_, route) => {
      const { origin, seen } = await surface({ certificate, fault: limiting(route, 1_000, '3600') });
      const found = await report(origin);
      expect(codes(found)).toEqual([]);
      expect(found.complete).toBe(false);
      expect(found.areas.some(({ state }) => state === 'not_checked')).toBe(true);
      expect(found.verdict).not.toBe('ready');
      expect(seen.length).toBeLessThan(60);
    },
  );
});

const TRUST = 'GET /.well-known/trust.json';
const DID = 'GET /.well-known/did.json';
const MINT = 'POST /v1/receipt/free';
const VERIFY = 'POST /v1/receipt/verify';
const DOCUMENTS = /^GET \/(?:\.well-known|openapi|pricing|v1\/compute)/;

const toolsList =
  (change: (result: JsonObject) => JsonObject): Fault =>
  (answer, { route, body }) => {
    if (route !== 'POST /mcp' || !body.includes('tools/list')) return;
    const result = change({ tools: [] });
    answer.status = 200;
    answer.headers.set('content-type', 'application/json');
    answer.body = JSON.stringify({ jsonrpc: '2.0', id: 2, result });
  };
const large: (status: number) => Fault =
  (status) =>
  (answer, { body }) => {
    if (body.length > 1_000_000) answer.status = status;
  };
const errors: (change: (answer: Parameters<Fault>[0]) => void) => Fault =
  (change) =>
  (answer, { body, route }) => {
    if (body === '{"input":' || route.includes('there-is-nothing')) change(answer);
  };
const paid: (change: (asked: JsonObject) => JsonObject) => Fault =
  (change) =>
  (answer, { route }) => {
    if (route !== 'POST /v1/paid') return;
    const asked = JSON.parse(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString());
    answer.headers.set('payment-required', encoded(change(asked)));
  };
const accepting = (change: JsonObject): Fault =>
  paid((asked) => ({ ...asked, accepts: [{ ...(asked.accepts as JsonObject[])[0], ...change }] }));

/** Signs the service's bundle anew, changed, under a root of its own. */
async function resigned(change: (bundle: TrustBundle) => Partial<TrustBundle>): Promise<Fault> {
  const bundle = JSON.parse((await service.get('/.well-known/trust.json')).text) as TrustBundle;
  const { issuers, log, chain, version, expires_at, issued_at } = { ...bundle, ...change(bundle) };
  const times = { issuedAt: Date.parse(issued_at), expiresAt: Date.parse(expires_at) };
  const text = await signTrustBundle({ issuers, log, chain, version, ...times }, await newSigner());
  return (answer, { route }) => {
    if (route === TRUST) answer.body = text;
  };
}

const fixed = (fault: Fault) => async (): Promise<Fault> => fault;

/** Each way of being broken, and the one finding that names it. */
const BROKEN: readonly (readonly [FindingCode, string, () => Promise<Fault>])[] = [
  [
    'redirects_away',
    'the price list is elsewhere',
    fixed((answer, { route }) => {
      if (route !== 'GET /pricing') return;
      answer.status = 302;
      answer.headers.set('location', 'http://169.254.169.254/latest/meta-data/');
    }),
  ],
  [
    'answer_too_large',
    '1 GB at /pricing',
    fixed((answer, { route }, response) => {
      if (route !== 'GET /pricing') return;
      const block = Buffer.alloc(65_536, 'a');
      let left = 2 ** 30;
      const more = (): void => {
        while (left > 0 && response.write(block)) left -= block.length;
      };
      response.writeHead(answer.status, { 'content-type': 'application/json' }).on('drain', more);
      more();
      return 'taken';
    }),
  ],
  [
    'answer_too_slow',
    'a byte now and then at /pricing',
    fixed((answer, { route }, response) => {
      if (route !== 'GET /pricing') return;
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
      return 'taken';
    }),
  ],
  ['answer_encoded', 'a compressed price list', fixed(withHeader('content-encoding', 'gzip', /pricing/))],
  ['hsts_missing', 'no HSTS', fixed(withHeader('strict-transport-security', null))],
  ['hsts_missing', 'HSTS for an hour', fixed(withHeader('strict-transport-security', 'max-age=3600'))],
  ['trust_missing', 'no trust bundle', fixed(without(TRUST))],
  [
    'descriptor_missing',
    'a descriptor without endpoints',
    fixed(withJson('GET /v1/compute', () => ({ paid: 1 }))),
  ],
  ['did_missing', 'no DID document', fixed(without(DID))],
  ['pricing_missing', 'no price list', fixed(without('GET /pricing'))],
  ['openapi_missing', 'no OpenAPI', fixed(without('GET /openapi.json'))],
  [
    'openapi_invalid',
    'a reference to nothing',
    fixed(
      withJson('GET /openapi.json', (document) => {
        const components = document.components as { schemas: JsonObject };
        const { Problem: _, ...schemas } = components.schemas;
        return { ...document, components: { ...components, schemas } };
      }),
    ),
  ],
  [
    'keys_missing',
    'a DID document without keys',
    fixed(withJson(DID, (document) => ({ ...document, verificationMethod: [] }))),
  ],
  [
    'key_algorithm',
    'a key for P-256',
    fixed(
      withJson(DID, (document) => ({
        ...document,
        verificationMethod: [{ id: '#1', type: 'JsonWebKey2020', publicKeyJwk: { kty: 'EC', crv: 'P-256' } }],
      })),
    ),
  ],
  [
    'key_inactive',
    'keys that are all retired',
    () =>
      resigned(({ issuers }) => ({
        issuers: issuers.map((issuer) => ({
          ...issuer,
          keys: issuer.keys.map((key) => ({ ...key, state: 'retired' as const })),
        })),
      })),
  ],
  [
    'trust_invalid',
    'a bundle that was changed',
    fixed(withJson(TRUST, (bundle) => ({ ...bundle, version: 99 }))),
  ],
  [
    'trust_expired',
    'a bundle of yesterday',
    () =>
      resigned(() => ({
        issued_at: '2025-01-01T00:00:00Z',
        expires_at: '2025-02-01T00:00:00Z',
      })),
  ],
  [
    'receipt_not_offered',
    'no free mint in the OpenAPI document',
    fixed(
      withJson('GET /openapi.json', (document) => {
        const { '/v1/receipt/free': _, ...paths } = document.paths as JsonObject;
        return { ...document, paths };
      }),
    ),
  ],
  [
    'receipt_unavailable',
    'a mint that is out of order',
    fixed((answer, { route, body }) => {
      if (route !== MINT || !body.endsWith('}')) return;
      answer.status = 503;
      answer.body = '{}';
    }),
  ],
  [
    'receipt_invalid',
    'a receipt that was changed',
    fixed(withJson(MINT, (receipt) => ({ ...receipt, x: 1 }))),
  ],
  [
    'receipt_untrusted',
    'a receipt of somebody else',
    async () => {
      const now = service.clock();
      const facts = {
        request: { hash: `sha256:${'a'.repeat(64)}`, origin: null, purpose: 'test', policy_hash: null },
        operator: { entity: 'did:svc:nobody', region: null, training_region: null },
        hardware: { class: null, attestation: null },
        response: { hash: `sha256:${'b'.repeat(64)}`, sealed: false },
        settlement: { chain: null, asset: null, tx: null },
      };
      const issuance = {
        receiptId: receiptId('env', Math.floor(now / 1000), '0123456789ab'),
        issuedAt: now,
        issuerDid: 'did:svc:nobody',
        issuerVerified: false,
      };
      const other = JSON.parse(await mintEnvelope(facts, issuance, await newSigner())) as JsonObject;
      return withJson(MINT, () => other);
    },
  ],
  [
    'verify_refuses_genuine',
    'a verifier that refuses all',
    fixed(withJson(VERIFY, (verdict) => ({ ...verdict, valid: false }))),
  ],
  [
    'verify_accepts_tampered',
    'a verifier that believes all',
    fixed(withJson(VERIFY, (verdict) => ({ ...verdict, valid: true }))),
  ],
  ['mcp_missing', 'no MCP', fixed(without('POST /mcp'))],
  [
    'mcp_initialize_invalid',
    'initialize without a revision',
    fixed((answer, { route, body }) => {
      if (route === 'POST /mcp' && body.includes('"initialize"'))
        answer.body = '{"jsonrpc":"2.0","id":1,"result":{}}';
    }),
  ],
  ['mcp_tools_invalid', 'no tools', fixed(toolsList(() => ({ tools: [] })))],
  ['mcp_tools_invalid', 'a tool without a schema', fixed(toolsList(() => ({ tools: [{ name: 'x' }] })))],
  [
    'payment_not_offered',
    'no paid endpoint',
    fixed(withJson('GET /v1/compute', (document) => ({ ...document, endpoints: {} }))),
  ],
  [
    'payment_not_challenged',
    'a paid endpoint that is free',
    fixed((answer, { route }) => {
      if (route === 'POST /v1/paid') answer.status = 200;
    }),
  ],
  [
    'payment_challenge_unreadable',
    'a challenge that is no base64',
    fixed(withHeader('payment-required', '{"x402Version":2}', /paid/)),
  ],
  [
    'payment_challenge_unreadable',
    'a challenge that is nowhere',
    fixed(withHeader('payment-required', null, /paid/)),
  ],
  ['payment_challenge_invalid', 'an amount in dollars', fixed(accepting({ amount: '0.001' }))],
  ['payment_challenge_invalid', 'nothing to pay', fixed(accepting({ amount: '0' }))],
  ['payment_challenge_invalid', 'a payee that is none', fixed(accepting({ payTo: `0x${'0'.repeat(40)}` }))],
  ['payment_challenge_invalid', 'an unknown form of network', fixed(accepting({ network: 'base' }))],
  ['payment_challenge_invalid', 'no time', fixed(accepting({ maxTimeoutSeconds: 0 }))],
  ['payment_challenge_invalid', 'no way to pay', fixed(paid((asked) => ({ ...asked, accepts: [] })))],
  [
    'payment_challenge_invalid',
    'a resource of somebody else',
    fixed(paid((asked) => ({ ...asked, resource: { url: 'https://other.example/' } }))),
  ],
  ['header_nosniff', 'no nosniff', fixed(withHeader('x-content-type-options', null))],
  ['header_content_type', 'JSON as text', fixed(withHeader('content-type', 'text/plain', DOCUMENTS))],
  ['header_cors', 'no CORS', fixed(withHeader('access-control-allow-origin', null))],
  [
    'header_cache',
    'keys to be kept for a year',
    fixed(withHeader('cache-control', 'public, max-age=31536000', /well-known/)),
  ],
  [
    'rate_limit_unstated',
    'no RateLimit',
    fixed((answer) => {
      answer.headers.delete('ratelimit');
      answer.headers.delete('ratelimit-policy');
    }),
  ],
  ['body_limit_fails', 'a large body is a fault', fixed(large(500))],
  ['error_status', 'a mistake is the service’s fault', fixed(errors((answer) => (answer.status = 500)))],
  ['error_status', 'a mistake is fine', fixed(errors((answer) => (answer.status = 200)))],
  [
    'error_not_problem',
    'errors are pages',
    fixed(
      errors((answer) => {
        answer.headers.set('content-type', 'text/html');
        answer.body = '<h1>Oops</h1>';
      }),
    ),
  ],
  [
    'error_no_code',
    'errors without a code',
    fixed(
      errors((answer) => {
        answer.body = JSON.stringify({ type: 'about:blank', title: 'Bad', status: answer.status });
      }),
    ),
  ],
  [
    'error_no_code',
    'another code each time',
    fixed(
      errors((answer) => {
        const code = `e${Math.random()}`;
        answer.body = JSON.stringify({ title: 'Bad', status: answer.status, code });
      }),
    ),
  ],
  [
    'error_trace',
    'a stack trace',
    fixed(
      errors((answer) => {
        const problem = JSON.parse(answer.body) as JsonObject;
        answer.body = JSON.stringify({ ...problem, detail: new Error('boom').stack });
      }),
    ),
  ],
  [
    'error_trace',
    'a traceback',
    fixed(
      errors((answer) => {
        const problem = JSON.parse(answer.body) as JsonObject;
        answer.body = JSON.stringify({ ...problem, detail: 'Traceback (most recent call last):\n' });
      }),
    ),
  ],
];

/** Findings without a fault of the front: shown by tests of their own below. */
const ELSEWHERE: readonly FindingCode[] = [
  'unreachable',
  'address_refused',
  'tls_certificate_expired',
  'tls_certificate_invalid',
  'tls_certificate_expiring',
];

describe('a surface that is broken in one way', () => {
  it.each(BROKEN)('%s: %s', async (code, _, make) => {
    const { origin } = await surface({ certificate, fault: await make() });
    const found = await report(origin);
    expect(codes(found)).toEqual([code]);
    const [finding] = found.findings;
    expect(finding).toMatchObject({ ...FINDINGS[code], detail: expect.stringMatching(/\S/) });
    expect(found.score).toBeLessThan(100);
    expect(finding?.evidence.length === 0).toBe(code.endsWith('_not_offered'));
    expect(finding?.evidence.every(({ url }) => url.startsWith(origin))).toBe(true);
  });

  it('there is one for every finding', () => {
    const shown = new Set([...BROKEN.map(([code]) => code), ...ELSEWHERE]);
    expect([...shown].sort()).toEqual(Object.keys(FINDINGS).sort());
  });
});

it('docs/prospector.md lists every finding and area as they are', () => {
  const page = readFileSync(new URL('../../../docs/prospector.md', import.meta.url), 'utf8');
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  for (const [code, { area, severity, title, fix }] of Object.entries(FINDINGS))
    expect(rows).toContainEqual(['', `\`${code}\``, area, severity, title, fix, '']);
  for (const [area, weight] of Object.entries(AREAS))
    expect(rows).toContainEqual(['', `\`${area}\``, String(weight), expect.any(String), '']);
  expect(Object.values(AREAS).reduce((sum, weight) => sum + weight, 0)).toBe(100);
});

describe('TLS', () => {
  it.each([
    ['tls_certificate_expired', expired, undefined],
    ['tls_certificate_invalid', stranger, undefined],
    ['tls_certificate_invalid', certificate, 'other.example'],
    ['tls_certificate_expiring', expiring, undefined],
  ] as const)('%s', async (code, shown, host) => {
    const { origin } = await surface({ certificate: shown });
    const fetch = createGuardedFetch({ policy, ca: authorities, limits, resolve: async () => ['127.0.0.1'] });
    const asked = host === undefined ? origin : origin.replace('127.0.0.1', host);
    const found = codes(await report(asked, { fetch }));
    // The front’s payment requirements name its address, not the other name.
    expect(found.filter((one) => host === undefined || one !== 'payment_challenge_invalid')).toEqual([code]);
  });
});

describe('the same surface in another form has no finding either', () => {
  const events: Fault = (answer, { route }) => {
    if (route !== 'POST /mcp' || answer.status !== 200) return;
    const already = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const data = already ? (/^data: ?(.*)$/m.exec(answer.body)?.[1] ?? '') : answer.body;
    answer.headers.set('content-type', already ? 'application/json' : 'text/event-stream');
    answer.body = already ? data : `: hello\r\n\r\nevent: message\r\ndata: ${data}\r\n\r\n`;
  };
  const firstVersion: Fault = (answer, { route }) => {
    if (route !== 'POST /v1/paid') return;
    answer.headers.delete('payment-required');
    answer.body = JSON.stringify({
      x402Version: 1,
      accepts: [
        {
          scheme: 'exact',
          network: 'base',
          maxAmountRequired: '1000',
          resource: `${open[0]?.origin}/v1/paid`,
          asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
          maxTimeoutSeconds: 60,
        },
      ],
    });
  };
  const discovery =
    (resourceOf: (url: string) => unknown): Fault =>
    (answer, request, response) => {
      withJson('GET /v1/compute', (document) => ({ ...document, endpoints: {} }))(answer, request, response);
      if (request.route !== 'GET /.well-known/x402') return;
      answer.status = 200;
      answer.headers.set('content-type', 'application/json');
      const resources = ['https://elsewhere.example/', resourceOf(`${open[0]?.origin}/v1/paid`)];
      answer.body = JSON.stringify({ version: 1, resources });
    };

  it.each([
    ['MCP in server-sent events, or not', events],
    ['x402 in version 1', firstVersion],
    ['paid resources in /.well-known/x402, as text', discovery((url) => `POST ${url}`)],
    ['paid resources there, with url and method', discovery((url) => ({ method: 'POST', url }))],
    ['paid resources there, as resource', discovery((url) => ({ resource: url, method: 'POST' }))],
  ])('%s', async (_, fault) => {
    const { origin } = await surface({ certificate, fault });
    expect((await report(origin)).findings).toEqual([]);
  });

  it('a descriptor that the caller gives, with a sample instead of a mint', async () => {
    const minted = (await service.post('/v1/receipt/free', { input: 'sample', purpose: 'test' })).text;
    const sample: Fault = (answer, { route }) => {
      if (route !== 'GET /sample.json') return;
      answer.status = 200;
      answer.headers.set('content-type', 'application/json');
      answer.body = minted;
    };
    const { origin, seen } = await surface({ certificate, fault: sample });
    const endpoints = {
      receipt_sample: 'GET /sample.json',
      paid: 'POST /v1/paid',
      mcp: 'POST https://evil.example/',
    };
    const found = await report(origin, { descriptor: { origin, endpoints } });
    expect(found.findings.filter(({ code }) => code !== 'rate_limit_unstated')).toEqual([]);
    expect(seen).not.toContain('GET /v1/compute');
    expect(seen).toContain('GET /sample.json');
  });
});

describe('what is shown', () => {
  it('excerpts are short, of one line, and hold no secrets', async () => {
    const key = `k_pro_${'a'.repeat(32)}`;
    const leak = errors((answer) => {
      answer.headers.set('content-type', 'text/plain');
      answer.body = `\u001b[31m${key}\n{"password": "hunter2"} ${'é'.repeat(500)}`;
    });
    const { origin } = await surface({ certificate, fault: leak });
    const [finding] = (await report(origin)).findings;
    const { excerpt = '' } = finding?.evidence[0] ?? {};
    expect(excerpt).toContain('[redacted]');
    expect(excerpt).not.toContain('hunter2');
    expect(excerpt).not.toContain(key);
    expect(excerpt).not.toMatch(/\p{C}/u);
    expect(Buffer.byteLength(excerpt)).toBeLessThanOrEqual(200);
  });

  it('what a server says of itself is shortened and cleaned in details and notes too', async () => {
    const long = `k_pro_${'a'.repeat(32)} \u001b[2J${'x'.repeat(100_000)}`;
    const { origin } = await surface({
      certificate,
      fault: withJson('GET /openapi.json', (document) => ({ ...document, refs: { $ref: `#/${long}` } })),
    });
    const found = await report(origin);
    expect(codes(found)).toEqual(['openapi_invalid']);
    expect(JSON.stringify(found).length).toBeLessThan(10_000);
    expect(JSON.stringify(found)).not.toMatch(/k_pro_|u001b/);
  });

  it('no request carries a credential or a payment', async () => {
    const carried: string[] = [];
    const fetch = createGuardedFetch({ policy, ca: authorities, limits });
    const watching: GuardedFetch = (url, request) => {
      carried.push(...Object.keys(request?.headers ?? {}));
      return fetch(url, request);
    };
    const { origin } = await surface({ certificate });
    await report(origin, { fetch: watching });
    expect(carried).toContain('user-agent');
    expect(carried.filter((name) => /auth|cookie|pay|x402|key/.test(name))).toEqual([]);
  });
});
