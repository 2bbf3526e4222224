import { type ErrorCode, errorTable, type JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { apiKey, expectProblem, type Reply, startTestService, type TestService, toReply } from './service.ts';

const text = (value: string) => new TextEncoder().encode(value);
const bytes = (...parts: (string | number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...text(part)] : part)));

/** Every route that reads a body, with one that it accepts or at least understands, and a member that is a text. */
const ROUTES = [
  ['/v1/receipt/free', { input: 'x', purpose: 'p' }],
  ['/v1/receipt/emit', { input: 'x' }],
  ['/v1/receipt/emit?profile=nano', { input: 'x' }],
  ['/v1/receipt/verify', { receipt: {} }],
  ['/v1/receipts/verify', { receipts: [] }],
  ['/v1/rubric/select', { intent: 'x' }],
  ['/v1/issuers', {}],
  ['/v1/anchor', { canonical_sha256: '' }],
  ['/v1/anchor/batch', { canonical_sha256: [] }],
  ['/v1/rosetta/normalize', { jurisdiction: '', policy: [], targets: [] }],
  ['/v1/prospector/qualify', { origin: 'https://example.com' }],
] as const satisfies readonly (readonly [string, JsonObject])[];

const CROWDED = Object.fromEntries([
  ['concept', 'retention'],
  ...Array.from({ length: 32 }, (_, i) => [`t${i}`, i]),
]);
const RATING = { receipt_id: 'r_env_1803902400_0123456789ab', label: 'good' };
const POLICY = { jurisdiction: 'eu', policy: [{ concept: 'retention' }], targets: ['uk'] };

const NOT_I_JSON: [name: string, body: string | Uint8Array, code: ErrorCode, field?: string][] = [
  ['an empty body', '', 'json_empty'],
  ['white space alone', ' \n', 'json_empty'],
  ['bytes that are not UTF-8', bytes('{"input":"', [0xff], '"}'), 'json_not_utf8'],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], '{}'), 'json_bom'],
  ['a member twice', '{"input":"a","input":"a"}', 'json_duplicate_member', 'input'],
  ['a member twice, deep down and escaped', '{"a":[{"b":1,"\\u0062":2}]}', 'json_duplicate_member', 'a[0].b'],
  ['an escaped lone surrogate', '{"input":"\\ud800"}', 'json_lone_surrogate', 'input'],
  ['a raw lone surrogate', bytes('{"input":"', [0xed, 0xa0, 0x80], '"}'), 'json_not_utf8'],
  ['an escaped noncharacter', '{"input":"\\uffff"}', 'json_noncharacter', 'input'],
  ['a raw noncharacter', '{"input":"\ufdd0"}', 'json_noncharacter', 'input'],
  ['a number past all doubles', '{"a":1e400}', 'json_number_range', 'a'],
  ['an integer past 2^53-1', '{"a":9007199254740993}', 'json_integer_range', 'a'],
  ['65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, 'json_depth', `a${'[0]'.repeat(63)}`],
  ['100,000 levels', '['.repeat(100_000), 'json_depth', '[0]'.repeat(64)],
  ['no JSON', 'input=x', 'json_syntax'],
  ['half of a document', '{"input":"x"', 'json_syntax'],
  ['two documents', '{}{}', 'json_syntax'],
  ['a comment', '{/**/}', 'json_syntax'],
  ['a trailing comma', '{"a":1,}', 'json_syntax'],
  ['NaN', '{"a":NaN}', 'json_syntax'],
  ['a raw control character', '{"a":"\t"}', 'json_syntax'],
];

let service: TestService;
let key: Headers;
let partner: Headers;
beforeAll(async () => {
  service = await startTestService({ env: { TALLY_MAX_BODY_BYTES: '1048576' } });
  key = await apiKey(service, 'pro');
  partner = await apiKey(service, 'partner');
});
afterAll(() => service.close());

type Headers = Readonly<Record<string, string>>;

/** The key that a route needs: who has none is refused before the body is read. */
function keyOf(path: string): Headers {
  if (path.startsWith('/v1/anchor')) return key;
  return /^\/v1\/(?:rosetta|prospector)/.test(path) ? partner : {};
}

/** A POST by somebody who may. */
const post = (path: string, body: unknown, headers: Headers = {}): Promise<Reply> =>
  service.post(path, body, { ...keyOf(path), ...headers });

describe.each(ROUTES)('POST %s', (path, good) => {
  it.each(NOT_I_JSON)('refuses %s', async (_, body, code, field) => {
    expectProblem(await post(path, body), code, field);
  });

  it.each(['null', '[]', '"text"', '3', 'true'])('refuses %s, which is no object', async (body) => {
    expectProblem(await post(path, body), 'invalid_field');
  });

  it.each([
    ['another type', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a type that only starts like JSON', { 'content-type': 'application/jsonp' }],
    ['an encoded body', { 'content-encoding': 'gzip' }],
  ])('refuses %s', async (_, headers) => {
    expectProblem(await post(path, good, headers), 'unsupported_media_type');
  });

  it('refuses a body without a type', async () => {
    const body = text(JSON.stringify(good));
    const untyped = { method: 'POST', body, headers: keyOf(path) };
    expectProblem(await service.request(path, untyped), 'unsupported_media_type');
  });

  it('takes JSON with a charset, and +json types', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/ld+json']) {
      const { json } = await post(path, good, { 'content-type': type });
      expect(json.code).not.toBe('unsupported_media_type');
    }
  });

  it('refuses 2 MB, with a length and without one', async () => {
    const body = text(`{"input":"${'x'.repeat(2 * 1024 * 1024)}"}`);
    expectProblem(await post(path, body, { 'content-length': String(body.length) }), 'body_too_large');
    expectProblem(await post(path, body), 'body_too_large');
    expectProblem(await post(path, '{}', { 'content-length': '99999999' }), 'body_too_large');
  });
});

describe('fields', () => {
  it.each([
    ['/v1/receipt/free', { input: 'x' }, 'missing_field', 'purpose'],
    ['/v1/receipt/free', { purpose: 'x' }, 'missing_field', 'input'],
    ['/v1/receipt/free', { inputs: 'x', purpose: 'x' }, 'unknown_field', 'inputs'],
    ['/v1/receipt/free', { input: 1, purpose: 'x' }, 'invalid_field', 'input'],
    ['/v1/receipt/free', { input: null, purpose: 'x' }, 'invalid_field', 'input'],
    ['/v1/receipt/free', { input: '', purpose: 'x' }, 'empty_input', 'input'],
    ['/v1/receipt/emit', { input: ['x'] }, 'invalid_field', 'input'],
    ['/v1/receipt/emit', { input: 'x', ok: 'yes' }, 'invalid_field', 'ok'],
    ['/v1/receipt/emit', { payload: 1, agent: 'x' }, 'unknown_field', 'agent'],
    ['/v1/receipt/emit?profiles=nano', { input: 'x' }, 'unknown_field', 'profiles'],
    ['/v1/receipt/verify', {}, 'not_a_receipt', undefined],
    ['/v1/receipt/verify', { receipts: [] }, 'not_a_receipt', undefined],
    ['/v1/receipt/verify', { receipt: {}, anchor: {} }, 'not_a_receipt', undefined],
    ['/v1/receipt/free', { input: 'x', purpose: 'p', anchor: true }, 'api_key_missing', 'anchor'],
    ['/v1/receipt/emit', { input: 'x', anchor: true }, 'api_key_missing', 'anchor'],
    ['/v1/receipt/emit', { input: 'x', anchor: 'yes' }, 'invalid_field', 'anchor'],
    ['/v1/anchor', {}, 'missing_field', 'canonical_sha256'],
    ['/v1/anchor', { canonical_sha256: 7 }, 'invalid_field', 'canonical_sha256'],
    ['/v1/anchor', { canonical_sha256: [] }, 'invalid_field', 'canonical_sha256'],
    ['/v1/anchor', { sha256: '' }, 'unknown_field', 'sha256'],
    ['/v1/anchor/batch', { canonical_sha256: [] }, 'invalid_field', 'canonical_sha256'],
    ['/v1/anchor/batch', { canonical_sha256: 'x' }, 'invalid_field', 'canonical_sha256'],
    ['/v1/anchor/batch', { canonical_sha256: ['x', null] }, 'invalid_field', 'canonical_sha256[1]'],
    ['/v1/receipt/verify', { receipt: {}, evidence: 'x' }, 'invalid_field', 'evidence'],
    ['/v1/receipts/verify', { receipts: [], more: 1 }, 'unknown_field', 'more'],
    ['/v1/rubric/select', { amount: '1e3' }, 'invalid_field', 'amount'],
    ['/v1/rubric/select', { amount: -1 }, 'invalid_field', 'amount'],
    ['/v1/rubric/select', { counterparty: { regulatd: true } }, 'unknown_field', 'counterparty.regulatd'],
    ['/v1/rosetta/normalize', {}, 'missing_field', 'jurisdiction'],
    ['/v1/rosetta/normalize', { ...POLICY, policy: [] }, 'invalid_field', 'policy'],
    ['/v1/rosetta/normalize', { ...POLICY, targets: [] }, 'invalid_field', 'targets'],
    ['/v1/rosetta/normalize', { ...POLICY, policy: [{}] }, 'missing_field', 'policy[0].concept'],
    ['/v1/rosetta/normalize', { ...POLICY, policy: ['x'] }, 'invalid_field', 'policy[0]'],
    ['/v1/rosetta/normalize', { ...POLICY, policy: [CROWDED] }, 'invalid_field', 'policy[0]'],
    ['/v1/rosetta/normalize', { ...POLICY, to: ['uk'] }, 'unknown_field', 'to'],
    ['/v1/issuers', {}, 'missing_field', 'statement'],
    ['/v1/issuers', { statement: { type: 'x' } }, 'invalid_field', 'statement.type'],
  ] as const)('%s refuses %j: %s', async (path, body, code, field) => {
    expectProblem(await post(path, body), code, field);
  });

  it.each([
    ['POST', '/v1/keys', { name: 'a\0b' }, 'name'],
    ['PATCH', '/v1/keys/key_4fmx07q2zk81ab9c', { name: 'a\0b' }, 'name'],
    ['POST', '/v1/compute/feedback', { ...RATING, comment: 'a\0b' }, 'comment'],
    ['POST', '/v1/receipt/corrections', { corrects: 'a\0b', correction: 'x' }, 'corrects'],
    ['POST', '/v1/receipt/corrections', { corrects: 'x', correction: 'a\0b' }, 'correction'],
  ])('%s %s refuses %j: PostgreSQL would store no zero byte', async (method, path, body, field) => {
    const headers = { ...key, 'content-type': 'application/json' };
    const reply = await service.request(path, { method, headers, body: JSON.stringify(body) });
    expect(reply.json).toMatchObject({ code: 'invalid_field', status: 422, field });
  });

  it('asks no database for an order whose id has a zero byte', async () => {
    const asked = vi.spyOn(service.services.store.treasury, 'order');
    expectProblem(await service.get('/v1/anchor/keys/orders/a%00b'), 'order_not_found');
    expect(asked).not.toHaveBeenCalled();
  });

  it('names the near and the known ones for an unknown field', async () => {
    const { json } = await service.post('/v1/receipt/free', { inputs: 'x', purpose: 'x' });
    expect(json.detail).toMatch(/Did you mean input\?.*purpose/);
  });

  it.each(['did:', 'agent-7', 'did:key:z6Mk x', 'did:a:b, did:a:c', `did:web:${'a'.repeat(3000)}`])(
    'refuses the X-Agent-DID "%s"',
    async (agent) => {
      for (const path of ['/v1/receipt/free', '/v1/receipt/emit']) {
        const body = path.endsWith('free') ? { input: 'x', purpose: 'p' } : { input: 'x' };
        expectProblem(
          await service.post(path, body, { 'x-agent-did': agent }),
          'invalid_field',
          'X-Agent-DID',
        );
      }
    },
  );

  it.each(['', 'a b', 'ü', 'k'.repeat(256)])('refuses the Idempotency-Key "%s"', async (key) => {
    const headers = { 'idempotency-key': key };
    expectProblem(
      await service.post('/v1/receipt/free', { input: 'x', purpose: 'p' }, headers),
      'idempotency_key_invalid',
    );
    expectProblem(await service.post('/v1/receipt/emit', { input: 'x' }, headers), 'idempotency_key_invalid');
  });
});

describe('paths and methods', () => {
  it.each(['/v1', '/v1/receipt', '/v1/receipt/free/', '/v2/receipt/free', '/%E0%A4%A', '/..%2f'])(
    '%s is not found',
    async (path) => {
      expectProblem(await service.get(path), 'not_found');
    },
  );

  it.each([
    'r_nano_1803902400_0123456789ab',
    'r_env_1_0123456789ab',
    'x',
    '%00',
    '%E0%A4%A',
    "';drop table receipts",
  ])('there is no receipt %s', async (id) => {
    expectProblem(await service.get(`/v1/receipt/${id}`), 'receipt_not_found');
  });

  it.each([
    ['GET', '/v1/receipts/verify', 'POST, OPTIONS'],
    ['POST', '/checkpoint', 'GET, HEAD, OPTIONS'],
    ['POST', '/tile/0/000', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/receipts/verify', 'POST, OPTIONS'],
    ['DELETE', '/pricing', 'GET, HEAD, OPTIONS'],
    ['POST', '/pricing', 'GET, HEAD, OPTIONS'],
    ['PATCH', '/v1/issuers', 'POST, OPTIONS'],
  ])('%s %s is not allowed', async (method, path, allow) => {
    const reply = await service.request(path, { method });
    expectProblem(reply, 'method_not_allowed');
    expect(reply.headers.get('allow')).toBe(allow);
  });
});

describe('over a socket', () => {
  const chunked = (body: string) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < body.length; at += 65_536)
          controller.enqueue(text(body.slice(at, at + 65_536)));
        controller.close();
      },
    });

  it('refuses what is too large, and serves the next request', async () => {
    const url = `${await service.listen()}/v1/receipt/free`;
    const body = `{"input":"${'x'.repeat(2 * 1024 * 1024)}","purpose":"p"}`;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
    expectProblem(await toReply(await fetch(url, { ...init, body })), 'body_too_large');
    const streamed = { ...init, body: chunked(body), duplex: 'half' } as RequestInit;
    expectProblem(await toReply(await fetch(url, streamed)), 'body_too_large');
    const small = { ...init, body: chunked('{"input":"x","purpose":"p"}'), duplex: 'half' } as RequestInit;
    expect((await fetch(url, small)).status).toBe(200);
    expectProblem(
      await toReply(await fetch(url, { ...init, body: text('{"input":"\ufdd0"}') })),
      'json_noncharacter',
      'input',
    );
  });
});

it('every code that a client can be answered is 4xx but those of our own faults', () => {
  const faults = Object.entries(errorTable).filter(([, { status }]) => status >= 500);
  expect(faults.map(([code]) => code)).toEqual([
    'internal',
    'unavailable',
    'anchor_unavailable',
    'log_mismatch',
    'log_behind',
    'log_corrupted',
    'chain_unavailable',
    'chain_mismatch',
    'price_outdated',
    'no_model_available',
    'provider_failed',
    'provider_timeout',
    'payment_unconfirmed',
    'trust_unavailable',
  ]);
});
