import { randomBytes } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import {
  anchoredHash,
  createSigner,
  generateSecretKey,
  type JsonObject,
  signRequest,
  utf8,
} from '@tallystick/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, messages, type Routed, startRouted } from './compute.ts';
import { callTool, connectMcp, REVISIONS } from './mcp-client.ts';
import { apiKey, startTestService, type TestService } from './service.ts';

const HASH = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';
const hex = (digit: string): string => digit.repeat(64);
const BILL = {
  machine_commitment: hex('1'),
  customer_commitment: hex('2'),
  salt_commitment: hex('3'),
  window_start: '2026-01-01T00:00:00Z',
  window_end: '2026-01-15T00:00:00Z',
  service_unit: 'pallet_moved',
  billed_unit_count: 7,
  rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
  evidence: [{ receipt_sha256: hex('a'), unit: 1 }],
};
const NAMES = [
  'mint_receipt',
  'emit_receipt',
  'open_session',
  'add_session_receipt',
  'meter',
  'verify_receipt',
  'anchor_hash',
  'resolve_anchor',
  'estimate',
  'chat',
  'embed',
  'rate',
  'list_calls',
  'get_call',
  'select_profile',
];

let routed: Routed;
let service: TestService;
let key: { authorization: string };
beforeAll(async () => {
  routed = await startRouted();
  ({ service } = routed);
  key = await apiKey(service, 'scale');
});
afterAll(() => routed.close());

describe.each(REVISIONS)('the tools in revision %s', (revision) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectMcp(routed.url, revision);
  });
  afterAll(() => client.close());

  it('are listed with schemas that stand alone, and hints', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    const ajv = new Ajv2020({ strict: false, formats: { uri: true, date: true } });
    for (const { name, inputSchema, outputSchema, annotations, description, title } of tools) {
      expect(JSON.stringify([inputSchema, outputSchema]), name).not.toContain('$ref');
      expect([inputSchema.type, outputSchema?.type], name).toEqual(['object', 'object']);
      expect(ajv.compile(inputSchema), name).toBeTypeOf('function');
      expect(ajv.compile(outputSchema as object), name).toBeTypeOf('function');
      expect(annotations?.readOnlyHint, name).toBeTypeOf('boolean');
      expect(`${title}${description}`, name).toMatch(/\S/);
    }
    const chat = tools.find(({ name }) => name === 'chat');
    expect(Object.keys(chat?.inputSchema.properties ?? {})).toEqual(
      expect.arrayContaining(['messages', 'cost_quality', 'idempotency_key']),
    );
    expect(chat?.inputSchema.properties).not.toHaveProperty('stream');
    expect(chat?.inputSchema.required).toEqual(['messages']);
    expect(tools.find(({ name }) => name === 'resolve_anchor')?.inputSchema).toMatchObject({
      properties: { anchor_ref: {}, hash: {} },
      required: [],
      additionalProperties: false,
    });
  });

  it('mint_receipt, verify_receipt and receipt://{id}', async () => {
    const minted = await callTool(client, 'mint_receipt', { input: 'x', purpose: 'p' });
    expect(minted.isError).toBe(false);
    expect(minted.structured).toEqual(minted.json);
    expect(minted.headers).toMatchObject({ 'x-receipt-profile': 'standard' });
    const verified = await callTool(client, 'verify_receipt', { receipt: minted.json });
    expect(verified.structured).toMatchObject({ valid: true, issuer: { trusted: true } });
    const uri = `receipt://${minted.json['receipt_id'] as string}`;
    const { contents } = await client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: 'application/json', text: minted.text }]);
  });

  it('emit_receipt with a profile, once for an idempotency_key', async () => {
    const args = { payload: { order: 42 }, profile: 'nano', idempotency_key: `emit-${revision}` };
    const first = await callTool(client, 'emit_receipt', args);
    expect(first.json).toMatchObject({ profile: 'nano' });
    const again = await callTool(client, 'emit_receipt', args);
    expect(again.text).toBe(first.text);
    expect(again.headers).toMatchObject({ 'idempotency-replayed': 'true' });
    const { status, text } = await service.post(
      '/v1/receipt/emit?profile=nano',
      { payload: { order: 42 } },
      { 'idempotency-key': `emit-${revision}` },
    );
    expect([status, text === first.text]).toEqual([200, false]);
    const reused = await callTool(client, 'emit_receipt', { ...args, payload: 1 });
    expect(reused).toMatchObject({ isError: true, json: { code: 'idempotency_key_reused' } });
  });

  it('open_session and add_session_receipt', async () => {
    const id = randomBytes(16).toString('hex');
    const opening = { session_id: id, salt_commitment: `sha256:${hex('a')}` };
    const opened = await callTool(client, 'open_session', opening);
    expect((await callTool(client, 'open_session', opening)).text).toBe(opened.text);
    const session = { id, seq: '1', prev: `sha256:${anchoredHash(opened.json)}` };
    const closing = { kind: 'session', event: 'close', count: '2', head: session.prev, session };
    const args = { id, call: closing, request_hash: null, response_hash: null };
    const closed = await callTool(client, 'add_session_receipt', args);
    expect(closed.json, closed.text).toMatchObject({
      call: closing,
      declared: ['call', 'request', 'response'],
    });
    const late = { ...closing, count: '3', session: { ...session, seq: '2' } };
    expect((await callTool(client, 'add_session_receipt', { ...args, call: late })).json).toMatchObject({
      code: 'session_closed',
      status: 409,
    });
  });

  it('meter', async () => {
    const { json } = await callTool(client, 'meter', BILL);
    expect(json).toMatchObject({
      signed_body: { metered: { billed_unit_count: 7, evidence_backed_unit_count: 1 } },
    });
  });

  it('anchor_hash asks for a key; resolve_anchor does not', async () => {
    const refused = await callTool(client, 'anchor_hash', { canonical_sha256: HASH });
    expect(refused).toMatchObject({
      isError: true,
      structured: undefined,
      json: { code: 'api_key_missing', status: 401, detail: expect.stringMatching(/Bearer/) },
    });
    const keyed = await connectMcp(routed.url, revision, key);
    const placed = await callTool(keyed, 'anchor_hash', { canonical_sha256: HASH });
    expect(placed.structured).toMatchObject({ anchor_ref: expect.stringMatching(/^urn:anchor:/) });
    await keyed.close();
    const byReference = await callTool(client, 'resolve_anchor', {
      anchor_ref: placed.json['anchor_ref'] as string,
    });
    const byHash = await callTool(client, 'resolve_anchor', { hash: HASH });
    expect(byReference.json).toMatchObject({ anchor_ref: placed.json['anchor_ref'] });
    expect(byHash.json).toMatchObject({ anchor_ref: placed.json['anchor_ref'] });
    expect((await callTool(client, 'resolve_anchor')).json).toMatchObject({
      code: 'missing_field',
      field: 'anchor_ref',
    });
    const both = { anchor_ref: placed.json['anchor_ref'] as string, hash: HASH };
    expect((await callTool(client, 'resolve_anchor', both)).json).toMatchObject({
      code: 'unknown_field',
      field: 'hash',
    });
  });

  it('list_calls and get_call, of the caller alone', async () => {
    const keyed = await connectMcp(routed.url, revision, await apiKey(service, 'pro'));
    const { json } = await callTool(keyed, 'chat', { model: MODEL, messages, svc: { tags: { of: 'list' } } });
    const { receipt_id: id } = (json['svc'] as { receipt: { receipt_id: string } }).receipt;
    await service.listed();
    const listed = await callTool(keyed, 'list_calls', { tag: 'of:list', limit: '1' });
    expect(listed.structured).toMatchObject({ data: [{ id, model: MODEL }], next_cursor: null });
    expect(await callTool(keyed, 'list_calls', { tag: 'of:list', limit: 1 })).toEqual(listed);
    expect((await callTool(keyed, 'get_call', { id })).structured).toMatchObject({ id, tries: [] });
    await keyed.close();
    expect((await callTool(client, 'list_calls', { tag: 'of:list' })).structured).toMatchObject({ data: [] });
    expect((await callTool(client, 'get_call', { id })).json).toMatchObject({ code: 'not_found' });
  });

  it('select_profile', async () => {
    const { structured } = await callTool(client, 'select_profile', { intent: 'medical record' });
    expect(structured).toMatchObject({ recommended_profile: 'pq' });
  });

  it('estimate, chat and embed, billed to the key', async () => {
    const keyed = await connectMcp(routed.url, revision, key);
    const estimated = await callTool(keyed, 'estimate', { model: MODEL, messages });
    expect(estimated.structured).toMatchObject({ model: MODEL, cost: { asset: 'USDC' } });
    const chat = { model: MODEL, messages, idempotency_key: `chat-${revision}` };
    const answered = await callTool(keyed, 'chat', chat);
    expect(answered.isError, answered.text).toBe(false);
    expect(answered.structured).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant' } }],
      svc: { receipt: { request: { hash: expect.stringMatching(/^sha256:/) } }, billing: {} },
    });
    const { receipt } = answered.json['svc'] as { receipt: JsonObject };
    expect((await callTool(keyed, 'verify_receipt', { receipt })).json).toMatchObject({ valid: true });
    const calls = routed.upstream.requests.length;
    expect((await callTool(keyed, 'chat', chat)).text).toBe(answered.text);
    expect(routed.upstream.requests).toHaveLength(calls);
    const embedded = await callTool(keyed, 'embed', { model: 'local/embed-512', input: 'a tally stick' });
    expect(embedded.structured).toMatchObject({ object: 'list', data: [{ object: 'embedding' }] });
    await keyed.close();
    await routed.expectBalanced();
  });

  it.each([
    ['mint_receipt', { input: 'x', purpse: 'p' }, 'unknown_field', 'purpse'],
    ['mint_receipt', { input: '', purpose: 'p' }, 'empty_input', 'input'],
    ['emit_receipt', { input: 'x', profile: 'big' }, 'unknown_profile', 'profile'],
    ['verify_receipt', { receipt: { a: 1 } }, 'not_a_receipt', undefined],
    ['chat', { messages: [] }, 'invalid_request', 'messages'],
    ['chat', { messages, stream: true }, 'unknown_field', 'stream'],
    ['chat', { messages, model: 'nobody/none' }, 'model_not_found', 'model'],
    ['estimate', { messages: [{ role: 'king', content: 'x' }] }, 'invalid_request', 'messages[0].role'],
    ['anchor_hash', { canonical_sha256: HASH, idempotency_key: 'k' }, 'unknown_field', 'idempotency_key'],
    [
      'mint_receipt',
      { input: 'x', purpose: 'p', idempotency_key: 1 },
      'idempotency_key_invalid',
      'idempotency_key',
    ],
  ])('%s refuses %o as the route does', async (name, args, code, field) => {
    const { isError, json } = await callTool(client, name, args);
    expect(isError).toBe(true);
    expect(json).toMatchObject({
      type: expect.stringMatching(new RegExp(`/docs/errors#${code}$`)),
      status: expect.any(Number),
      detail: expect.stringMatching(/\S/),
      code,
    });
    expect(json['field']).toBe(field);
  });

  it('an unknown tool, an unknown receipt and an unknown resource are errors of the protocol', async () => {
    await expect(client.callTool({ name: 'nothing' })).rejects.toThrow(/nothing not found/);
    await expect(client.readResource({ uri: 'receipt://r_env_1803902400_0123456789ab' })).rejects.toThrow(
      /not found/i,
    );
    await expect(client.readResource({ uri: 'other://x' })).rejects.toThrow(/not found/i);
  });

  it('the trust bundle is a resource', async () => {
    const { resources } = await client.listResources();
    expect(resources).toMatchObject([{ uri: 'trust://bundle', name: 'trust-bundle' }]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'receipt://{id}' }]);
    const { contents } = await client.readResource({ uri: 'trust://bundle' });
    const { text } = await service.get('/.well-known/trust.json');
    expect(contents).toEqual([{ uri: 'trust://bundle', mimeType: 'application/json', text }]);
  });

  it('refuse an argument that they leave out of the endpoint, in the query as in the body', async () => {
    for (const [name, args, field] of [
      ['list_calls', { format: 'csv' }, 'format'],
      ['chat', { messages, stream: true }, 'stream'],
    ] as const) {
      const refused = await callTool(client, name, args);
      expect(refused, refused.text).toMatchObject({ isError: true, json: { code: 'unknown_field', field } });
    }
  });

  it('a call that is taken back, or whose client goes, stops the upstream at once', async () => {
    for (const how of ['cancel', 'close'] as const) {
      routed.upstream.play({ fault: { kind: 'silence' } });
      const one = await connectMcp(routed.url, revision);
      const controller = new AbortController();
      const { requests } = routed.upstream;
      const before = requests.length;
      const called = callTool(one, 'chat', { model: MODEL, messages }, controller.signal).catch(
        () => 'stopped',
      );
      await expect.poll(() => requests.length).toBe(before + 1);
      const hungUp = routed.upstream.hungUp();
      if (how === 'cancel') controller.abort();
      else await one.close();
      // Nothing else would end it: this upstream never answers, and is waited for as long as a test may last.
      await hungUp;
      expect(await called).toBe('stopped');
      await one.close();
    }
    await expect.poll(() => routed.balance('development')).toMatchObject({ reserved: 0n });
  });
});

describe('who calls', () => {
  let own: TestService;
  afterEach(() => own.close());

  it.each(REVISIONS)('goes by the headers of each request, quotas too (%s)', async (revision) => {
    own = await startTestService({ env: { TALLY_FREE_MINT_PER_DAY: '2' } });
    const url = await own.listen();
    const client = await connectMcp(url, revision);
    const mint = () => callTool(client, 'mint_receipt', { input: 'x', purpose: 'p' });
    expect((await mint()).headers).toMatchObject({ ratelimit: expect.stringMatching(/r=1;/) });
    await mint();
    expect(await mint()).toMatchObject({
      isError: true,
      json: { code: 'rate_limited', status: 429 },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
    const keyed = await connectMcp(url, revision, await apiKey(own, 'pro'));
    expect((await callTool(keyed, 'mint_receipt', { input: 'x', purpose: 'p' })).json).toMatchObject({
      tier: 'pro',
    });
    const wrong = await connectMcp(url, revision, { authorization: `Bearer k_pro_${'a'.repeat(32)}` });
    expect((await callTool(wrong, 'mint_receipt', { input: 'x', purpose: 'p' })).json).toMatchObject({
      code: 'api_key_invalid',
    });
    for (const one of [client, keyed, wrong]) await one.close();
  });

  it('is proved by a signature over the request', async () => {
    own = await startTestService();
    const signer = await createSigner(generateSecretKey());
    await own.post('/v1/compute/member/register', { did: signer.keyId });
    const call = JSON.stringify(statelessCall('emit_receipt', { input: 'x' }));
    const signed = await signRequest(
      { method: 'POST', url: new URL(`${own.config.apiUrl}/mcp`), body: utf8(call) },
      { did: signer.keyId, signer },
      { created: Math.floor(own.clock() / 1000), nonce: 'one' },
    );
    const headers = { ...statelessHeaders('emit_receipt'), ...signed };
    const once = await own.post('/mcp', call, headers);
    expect(receiptIn(once.json)).toMatchObject({
      agent_did: signer.keyId,
      agent_proved: true,
      reputation_context: { reputation_tier: 'member' },
    });
    expect((await own.post('/mcp', call, headers)).text).toContain('signature_invalid');
  });
});

describe('the transport', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const accept = { accept: 'application/json, text/event-stream' };
  const refusal = (code: number, problem: string) => ({
    jsonrpc: '2.0',
    id: null,
    error: { code, data: { code: problem } },
  });

  it.each([
    ['{"jsonrpc"', 400, -32_700, 'json_syntax'],
    ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32_700, 'json_duplicate_member'],
    ['', 400, -32_700, 'json_empty'],
    ['[]', 400, -32_600, 'invalid_request'],
    [JSON.stringify([initialize]), 400, -32_600, 'invalid_request'],
    ['{"id":1,"method":"ping"}', 400, -32_600, 'invalid_request'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 400, -32_600, 'invalid_request'],
  ])('answers %s in JSON-RPC', async (body, status, code, problem) => {
    const reply = await service.post('/mcp', body, accept);
    expect(reply.json).toMatchObject(refusal(code, problem));
    expect(reply.status).toBe(status);
  });

  it('takes no form, no encoding, and no more than calls may have', async () => {
    const form = await service.post('/mcp', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(form.status).toBe(415);
    const own = await startTestService({
      env: { TALLY_CALL_MAX_BODY_BYTES: '4096', TALLY_MAX_BODY_BYTES: '2048' },
    });
    const large = await own.post('/mcp', { ...initialize, pad: 'x'.repeat(5000) }, accept);
    expect(large.status).toBe(413);
    expect(large.json).toMatchObject(refusal(-32_000, 'body_too_large'));
    const args = { input: 'x'.repeat(3000), purpose: 'p' };
    const mint = await own.post(
      '/mcp',
      statelessCall('mint_receipt', args),
      statelessHeaders('mint_receipt'),
    );
    expect(mint.text).toContain('body_too_large');
    const params = { ...initialize.params, clientInfo: { name: 'x'.repeat(70_000), version: '1' } };
    const first = await service.post('/mcp', { ...initialize, params }, accept);
    expect(first.json).toMatchObject(refusal(-32_000, 'body_too_large'));
    await own.close();
  });

  describe('takes what this service is named by, and no page of another origin', () => {
    let own: TestService;
    beforeAll(async () => {
      own = await startTestService({ env: { TALLY_MCP_HOSTS: 'tally.internal,chat.example.com' } });
    });
    afterAll(() => own.close());

    it.each([
      { host: '203.0.113.9:8787' },
      { host: '[::1]:8787', origin: 'http://localhost:6274' },
      { host: 'tally.internal', origin: 'https://chat.example.com' },
    ])('takes %o', async (headers) => {
      expect((await own.post('/mcp', initialize, { ...accept, ...headers })).status).toBe(200);
    });

    it.each([
      { host: 'evil.example.com' },
      { host: 'localhost:1', origin: 'https://evil.example.com' },
      { origin: 'null' },
      { origin: 'http://203.0.113.9' },
    ])('refuses %o', async (headers) => {
      const reply = await own.post('/mcp', initialize, { ...accept, ...headers });
      expect(reply.status).toBe(403);
      expect(reply.json).toMatchObject(refusal(-32_000, 'origin_not_allowed'));
    });
  });

  it('has sessions that end, and no GET stream', async () => {
    const begun = await service.post('/mcp', initialize, accept);
    expect(begun.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(begun.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id');
    const session = { ...accept, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await service.post('/mcp', list, session)).text).toContain('mint_receipt');
    expect(
      (await service.post('/mcp', list, { ...session, 'mcp-protocol-version': '1999-01-01' })).status,
    ).toBe(400);
    const unasked = await service.get('/mcp', { ...session, accept: 'text/event-stream' });
    expect([unasked.status, unasked.headers.get('allow')]).toEqual([405, 'POST, DELETE, OPTIONS']);
    expect((await service.request('/mcp', { method: 'DELETE', headers: session })).status).toBe(200);
    expect((await service.post('/mcp', list, session)).status).toBe(404);
    expect((await service.request('/mcp', { method: 'DELETE', headers: session })).status).toBe(404);
    expect((await service.request('/mcp', { method: 'DELETE' })).status).toBe(400);
  });

  it('closes the stream of a call of a session that is taken back', async () => {
    const begun = await service.post('/mcp', initialize, accept);
    const session = { ...accept, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    routed.upstream.play({ fault: { kind: 'silence' } });
    const params = { name: 'chat', arguments: { model: MODEL, messages } };
    const before = routed.upstream.requests.length;
    const called = routed.post('/mcp', { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, session);
    await expect.poll(() => routed.upstream.requests.length).toBe(before + 1);
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    expect((await routed.post('/mcp', cancelled, session)).status).toBe(202);
    expect(await (await called).text()).toBe('');
    await expect.poll(async () => (await routed.balance('development')).reserved).toBe(0n);
    await routed.expectBalanced();
  });

  it('sessions end when they were idle for half an hour', async () => {
    // Not through the balancer: each process sees for itself how long a session was idle.
    const post = async (message: object, headers: Record<string, string>) =>
      service.app.request('/mcp', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(message),
      });
    const begun = await post(initialize, accept);
    const session = { ...accept, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const ping = () => post({ jsonrpc: '2.0', id: 2, method: 'ping' }, session);
    service.clock.advance(1_799_000);
    expect((await ping()).status).toBe(200);
    service.clock.advance(1_800_000);
    expect((await ping()).status).toBe(404);
  });

  it('refuses a revision that is not known, naming those that are', async () => {
    const call = JSON.stringify(statelessCall('select_profile', {})).replace('2026-07-28', '2030-01-01');
    const headers = { ...statelessHeaders('select_profile'), 'mcp-protocol-version': '2030-01-01' };
    const reply = await service.post('/mcp', call, headers);
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ error: { data: { supported: ['2026-07-28'] } } });
  });

  it('counts calls by tool', async () => {
    await service.post('/mcp', statelessCall('select_profile', {}), statelessHeaders('select_profile'));
    expect((await service.get('/metrics')).text).toMatch(
      /^http_requests_total\{route="select_profile",method="MCP",status="200"\} \d+$/m,
    );
  });
});

function statelessCall(name: string, args: JsonObject) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: meta } };
}

function statelessHeaders(name: string): Record<string, string> {
  return {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
}

function receiptIn(json: JsonObject): JsonObject {
  return (json['result'] as { structuredContent: JsonObject }).structuredContent;
}
