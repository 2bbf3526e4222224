import {
  createSigner,
  errorTable,
  generateSecretKey,
  type JsonObject,
  signRequest,
  utf8,
} from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { creditCaller } from '../../ledger/src/credit.ts';
import { CHAT, MODEL, messages, type Routed, startRouted } from './compute.ts';
import { ALONE, apiKey, DATABASES, type Reply, toReply } from './service.ts';
import { newTenant } from './tenant.ts';

const CALLS = '/v1/compute/calls';
const DAY_MS = 86_400_000;
type Headers = Record<string, string>;

function expectRefused({ status, json, text }: Reply, code: keyof typeof errorTable, field?: string): void {
  expect(status, text).toBe(errorTable[code].status);
  expect(json).toMatchObject({ code, ...(field !== undefined && { field }) });
}

function textOf(value: unknown): string {
  expect(value).toEqual(expect.any(String));
  return value as string;
}

function rowsOf({ json, text }: Reply): JsonObject[] {
  expect(json, text).toHaveProperty('data');
  return json['data'] as JsonObject[];
}

describe.each(DATABASES)('the list of calls on %s', (database) => {
  let routed: Routed;
  let key: Headers;
  let other: Headers;
  beforeAll(async () => {
    routed = await startRouted({ database, env: { TALLY_FREE_MINT_PER_DAY: '0' } });
    key = await apiKey(routed.service, 'pro');
    other = await apiKey(routed.service, 'pro');
  });
  afterAll(() => routed.close());

  const get = (path: string, headers: Headers) => routed.service.get(path, headers);
  /** The rows of a caller's list once it has so many. */
  const listed = async (headers: Headers, count: number, query = ''): Promise<JsonObject[]> =>
    vi.waitFor(async () => {
      const rows = rowsOf(await get(CALLS + query, headers));
      expect(rows).toHaveLength(count);
      return rows;
    }, 60_000);
  const chat = async (headers: Headers, body: JsonObject = {}): Promise<Reply> => {
    const reply = await routed.chat(body, headers);
    await routed.service.listed();
    return reply;
  };

  /** A fresh DID, and what signs requests as it. */
  const newAgent = async () => {
    const signer = await createSigner(generateSecretKey());
    const did = signer.keyId;
    const signed = async (method: string, path: string, body = ''): Promise<Headers> => {
      const { receiptsUrl } = routed.service.config;
      const request = { method, url: new URL(receiptsUrl + path), body: utf8(body) };
      const nonce = crypto.randomUUID();
      return signRequest(
        request,
        { did, signer },
        { created: Math.floor(routed.service.clock() / 1000), nonce },
      );
    };
    return { did, signed };
  };

  it('shows each call with what it cost, how it went and the tags that it was given', async () => {
    const svc = { explain: true, session: 's-1', tags: { team: 'search', step: '2' } };
    const reply = await chat(key, { svc });
    const [row] = await listed(key, 1);
    const receipt = (reply.json['svc'] as JsonObject)['receipt'] as JsonObject;
    expect(row).toMatchObject({
      id: receipt['receipt_id'],
      receipt_id: receipt['receipt_id'],
      at: '2027-03-01T12:00:00.250Z',
      model: MODEL,
      requested_model: MODEL,
      provider: 'openai',
      route_reason: 'explicit',
      stream: false,
      cost_usdc: (receipt['settlement'] as JsonObject)['amount'],
      status: 200,
      error_code: null,
      session: 's-1',
      tags: { team: 'search', step: '2' },
      request_hash: (receipt['request'] as JsonObject)['hash'],
      purpose: 'inference',
      profile: expect.any(String),
    });
    expect(row?.['key']).toMatch(/^key_/);
    expect(row?.['total_ms']).toBeGreaterThanOrEqual(row?.['first_byte_ms'] as number);
    const { json } = await get(`${CALLS}/${textOf(row?.['id'])}`, key);
    const span = { at_ms: expect.any(Number), ms: expect.any(Number) };
    expect(json).toMatchObject({
      ...row,
      tries: [],
      answered: { model: MODEL, provider: 'openai', ...span },
    });
    const steps = (json['timeline'] as JsonObject[]).map(({ step }) => step);
    expect(new Set(steps)).toEqual(
      new Set(['compress', 'first_byte', 'reserve', 'route', 'settle', 'tries']),
    );
    const answered = reply.json['svc'] as JsonObject;
    for (const name of ['routing', 'billing', 'compression']) expect(json[name]).toEqual(answered[name]);
  });

  it('has the receipt of each call in the list of its owner’s receipts, and in no other', async () => {
    const [owner, stranger] = [await apiKey(routed.service, 'pro'), await apiKey(routed.service, 'pro')];
    const { json: child } = await routed.service.post('/v1/keys', { name: 'worker' }, owner);
    const made = { authorization: `Bearer ${textOf(child['key'])}` };
    const idOf = (reply: Reply): string => textOf(reply.headers.get('x-receipt-id'));
    const first = idOf(await chat(owner, { svc: { tags: { team: 'a' } } }));
    const streamed = textOf((await routed.stream({}, owner)).svc?.receipt.receipt_id);
    const embedded = await routed.post(
      '/v1/compute/embeddings',
      { model: 'local/embed-512', input: 'a' },
      owner,
    );
    const byChild = await chat(made);
    const ids = [first, streamed, textOf(embedded.headers.get('x-receipt-id')), idOf(byChild)];
    const receipts = async (query: string, headers: Headers): Promise<JsonObject[]> =>
      rowsOf(await get(`/v1/receipts${query}`, headers));
    const found = async (query: string, headers: Headers = owner): Promise<string[]> =>
      (await receipts(query, headers)).map(({ receipt_id: id }) => textOf(id)).toSorted();
    await vi.waitFor(async () => expect(await found('')).toEqual(ids.toSorted()), 60_000);

    const [row] = await receipts(`?receipt_id=${first}`, owner);
    const [call] = await listed(owner, 1, `?receipt_id=${first}`);
    expect(row).toMatchObject({
      receipt_id: first,
      at: call?.['at'],
      provider: 'openai',
      status: 'ok',
      profile: call?.['profile'],
      purpose: 'inference',
      model: MODEL,
      key: call?.['key'],
      request_hash: textOf(call?.['request_hash']).replace('sha256:', ''),
      cost_usdc: call?.['cost_usdc'],
    });
    const chats = [first, streamed, idOf(byChild)].toSorted();
    expect(await found(`?model=${MODEL}`)).toEqual(chats);
    expect(await found(`?profile=${textOf(row?.['profile'])}`)).toEqual(ids.toSorted());
    expect(await found(`?key=${textOf(child['id'])}`)).toEqual([idOf(byChild)]);
    expect(await found('?profile=nano')).toEqual([]);
    expect(await found('?provider=openai')).toEqual(chats);
    expect(await found('?status=ok')).toEqual(ids.toSorted());
    expect(await found('?status=error')).toEqual([]);
    expect(await found('?tag=team:a')).toEqual([first]);
    expect(await found('?tag=team:a&provider=openai&min_cost=0')).toEqual([first]);
    expect(await found(`?min_cost=${textOf(row?.['cost_usdc'])}&receipt_id=${first}`)).toEqual([first]);
    expect(await found(`?min_cost=1000&receipt_id=${first}`)).toEqual([]);
    expect(await found('?tag=team:a', made)).toEqual([]);
    expect(await found('', made)).toEqual([idOf(byChild)]);
    for (const query of [
      '',
      `?receipt_id=${first}`,
      `?model=${MODEL}`,
      `?key=${textOf(call?.['key'])}`,
      '?tag=team:a',
    ])
      expect(await found(query, stranger)).toEqual([]);
  });

  it('shows streams, embeddings, and calls that failed or were refused', async () => {
    const headers = await apiKey(routed.service, 'pro');
    await routed.stream({}, headers);
    routed.upstream.play({ fault: { kind: 'status', status: 400 } });
    await chat(headers);
    routed.upstream.play({ fault: { kind: 'cut', after: 2 } });
    await routed.stream({}, headers);
    await chat(headers, { model: 'openai/none' });
    await routed.post('/v1/compute/embeddings', { model: 'local/embed-512', input: 'a' }, headers);
    await routed.service.listed();
    const rows = await listed(headers, 5);
    const shown = rows.map(({ requested_model: model, stream, status, error_code: code }) => [
      model,
      stream,
      status,
      code,
    ]);
    expect(shown).toHaveLength(5);
    expect(shown).toEqual(
      expect.arrayContaining([
        [MODEL, true, 200, null],
        ['openai/none', false, 404, 'model_not_found'],
        [MODEL, false, 400, 'provider_refused'],
        [MODEL, true, 200, 'provider_failed'],
        ['local/embed-512', false, 200, null],
      ]),
    );
    expect(await listed(headers, 1, '?error_code=model_not_found')).toMatchObject([
      { receipt_id: null, id: expect.stringMatching(/^call_/), cost_usdc: '0', total_ms: expect.any(Number) },
    ]);
    await listed(headers, 3, '?status=error');
    const [refused] = await listed(headers, 1, '?error_code=provider_refused');
    expect((await get(`${CALLS}/${textOf(refused?.['id'])}`, headers)).json).toMatchObject({
      answered: null,
      tries: [
        { model: MODEL, kind: 'refused', status: 400, at_ms: expect.any(Number), ms: expect.any(Number) },
      ],
    });
    await listed(headers, 2, '?status=ok');
  });

  it('finds calls by every filter', async () => {
    const [row] = rowsOf(await get(CALLS, key));
    const found: Record<string, unknown> = {
      key: row?.['key'],
      model: MODEL,
      provider: 'openai',
      status: 200,
      min_cost: row?.['cost_usdc'],
      max_cost: row?.['cost_usdc'],
      tag: 'step:2',
      session: 's-1',
      receipt_id: row?.['id'],
      request_hash: row?.['request_hash'],
      purpose: 'inference',
      profile: row?.['profile'],
      from: '2027-03-01T12:00:00.250Z',
      to: '2027-03-01T12:00:00.251Z',
    };
    const missed: Record<string, unknown> = {
      did: 'did:web:nobody.example',
      key: 'key_0000000000000000',
      model: 'x',
      provider: 'x',
      status: 500,
      error_code: 'internal',
      min_cost: '1',
      max_cost: '0',
      tag: 'step:3',
      session: 's',
      receipt_id: 'r_env_1803902400_0123456789ab',
      request_hash: '0'.repeat(64),
      purpose: 'x',
      profile: 'x',
      from: '2027-03-01T12:00:00.251Z',
      to: '2027-03-01T12:00:00.250Z',
    };
    const query = ([name, value]: [string, unknown]) => `?${name}=${encodeURIComponent(String(value))}`;
    for (const one of Object.entries(found))
      expect(rowsOf(await get(CALLS + query(one), key)), one[0]).toHaveLength(1);
    for (const one of Object.entries(missed))
      expect(rowsOf(await get(CALLS + query(one), key)), one[0]).toEqual([]);
    const isFilter = ([name]: [string, unknown]) => name !== 'from' && name !== 'to';
    for (const one of Object.entries({ ...found, status: 'ok' }).filter(isFilter)) {
      const { json } = await get(`${CALLS}/counts${query(one)}`, key);
      expect(json, one[0]).toMatchObject({ data: [{ calls: 1, errors: 0 }], counted_from: null });
    }
    for (const one of Object.entries({ ...missed, status: 'error' }).filter(isFilter))
      expect((await get(`${CALLS}/counts${query(one)}`, key)).json, one[0]).toEqual({
        data: [],
        counted_from: null,
      });
  });

  it.each([
    ['did', 'x'],
    ['key', 'x'],
    ['model', '%00'],
    ['status', 'fine'],
    ['min_cost', '-1'],
    ['max_cost', 'x'],
    ['tag', 'team'],
    ['tag', 'team:%00'],
    ['receipt_id', 'x'],
    ['request_hash', 'x'],
    ['cursor', 'x'],
    ['limit', '1001'],
    ['from', 'x'],
    ['format', 'xml'],
  ])('refuses %s=%s', async (name, value) => {
    expectRefused(await get(`${CALLS}?${name}=${value}`, key), 'invalid_field', name);
    if (name !== 'cursor' && name !== 'limit' && name !== 'format')
      expectRefused(await get(`${CALLS}/counts?${name}=${value}`, key), 'invalid_field', name);
  });

  it('pages by cursor, and exports every call as NDJSON and CSV', async () => {
    const headers = await apiKey(routed.service, 'pro');
    for (let call = 0; call < 5; call += 1) await chat(headers, { svc: { tags: { at: String(call) } } });
    const all = await listed(headers, 5);
    const first = await get(`${CALLS}?limit=3`, headers);
    routed.service.clock.advance(1);
    await chat(headers);
    const rest = await get(`${CALLS}?limit=3&cursor=${textOf(first.json['next_cursor'])}`, headers);
    expect([...rowsOf(first), ...rowsOf(rest)]).toEqual(all);
    expect(rest.json['next_cursor']).toBeNull();
    const exported = async (query: string): Promise<string[]> => {
      const response = await routed.service.app.request(CALLS + query, { headers });
      return (await response.text()).trimEnd().split(/\r?\n/);
    };
    const lines = (await exported('?format=ndjson')).map((line) => JSON.parse(line) as JsonObject);
    expect(lines).toHaveLength(6);
    expect(lines).toEqual(expect.arrayContaining(all));
    const csv = await exported('?format=csv&tag=at:4');
    expect(csv).toHaveLength(2);
    expect(csv[1]).toContain('"{""at"":""4""}"');
  });

  it('counts calls by bucket and group', async () => {
    const headers = await apiKey(routed.service, 'pro');
    await chat(headers);
    await chat(headers);
    await chat(headers, { model: 'openai/none' });
    await listed(headers, 3);
    const { json } = await get(`${CALLS}/counts?bucket=minute&by=status`, headers);
    expect(json['data']).toMatchObject([
      { at: '2027-03-01T12:00:00Z', by: '200', calls: 2, errors: 0, p50_ms: expect.any(Number) },
      { at: '2027-03-01T12:00:00Z', by: '404', calls: 1, errors: 1, cost_usdc: '0' },
    ]);
    for (const bucket of ['minute', 'hour', 'day']) {
      const whole = await get(`${CALLS}/counts?bucket=${bucket}&model=${MODEL}`, headers);
      expect(whole.json['data']).toMatchObject([{ by: null, calls: 2 }]);
    }
    expectRefused(await get(`${CALLS}/counts?bucket=minute&from=0`, headers), 'invalid_field', 'bucket');
    expect(
      (await get(`${CALLS}/counts?from=2027-03-02T00:00:00Z&to=2027-03-03T00:00:00Z`, headers)).json,
    ).toEqual({
      data: [],
      counted_from: null,
    });
  });

  it('shows each caller its own calls and nothing else, in every query', async () => {
    const { did, signed } = await newAgent();
    const secret = { svc: { tags: { secret: 'of-other' }, session: 'other-session' } };
    const others = await chat(other, secret);
    const [row] = await listed(other, 1);
    const id = textOf(row?.['id']);
    expect(others.headers.get('x-receipt-id')).toBe(id);
    const model = { model: MODEL, messages };
    const did1 = await routed.service.request(CHAT, {
      method: 'POST',
      body: JSON.stringify(model),
      headers: { 'content-type': 'application/json', ...(await signed('POST', CHAT, JSON.stringify(model))) },
    });
    expect(did1.status, did1.text).toBe(200);
    await routed.service.listed();

    const fresh = await apiKey(routed.service, 'pro');
    const readers: [string, (path: string) => Promise<Headers>][] = [
      ['another key', async () => fresh],
      ['a DID', (path) => signed('GET', path)],
      ['nobody', async () => ({})],
      ['a DID that is not proved', async () => ({ 'x-agent-did': did })],
    ];
    const filters = ['', '?tag=secret:of-other', '?session=other-session', `?receipt_id=${id}`];
    filters.push(
      `?key=${textOf(row?.['key'])}`,
      `?request_hash=${textOf(row?.['request_hash'])}`,
      '?min_cost=0',
    );
    filters.push(
      '?status=ok',
      '?status=200',
      `?model=${MODEL}`,
      '?provider=openai',
      '?format=csv',
      '?format=ndjson',
    );
    for (const [name, headersFor] of readers) {
      for (const filter of filters) {
        const headers = await headersFor(CALLS + filter);
        const reply = await routed.service.app.request(CALLS + filter, { headers });
        expect(reply.status, name).toBe(200);
        expect(await reply.text(), name + filter).not.toContain(id);
      }
      const path = `${CALLS}/counts?bucket=day&by=key`;
      const counted = await get(path, await headersFor(path));
      expect(JSON.stringify(counted.json), name).not.toContain(textOf(row?.['key']));
      expectRefused(await get(`${CALLS}/${id}`, await headersFor(`${CALLS}/${id}`)), 'not_found');
    }
    const mine = await get(CALLS, await signed('GET', CALLS));
    expect(rowsOf(mine)).toMatchObject([{ did, key: null, receipt_id: did1.headers.get('x-receipt-id') }]);

    const tenant = await newTenant(routed.service);
    const partner = await apiKey(routed.service, 'partner');
    for (const headers of [tenant.headers, partner]) {
      for (const path of ['', '?format=csv', '?format=ndjson', '/counts', '/live', `/${id}`])
        expectRefused(await get(CALLS + path, headers), 'api_key_invalid');
    }
  });

  it('follows the calls of one caller as they end, and no one else’s', async () => {
    const headers = await apiKey(routed.service, 'pro');
    const ended = new AbortController();
    const live = await fetch(`${routed.url}${CALLS}/live`, { headers, signal: ended.signal });
    expect(live.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const reader = (live.body as ReadableStream<Uint8Array>).getReader();
    const more = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    let text = await more();
    await chat(other);
    const reply = await chat(headers);
    while (!text.includes('event: call')) text += await more();
    const rows = text.split('\n').filter((line) => line.startsWith('data: '));
    expect(rows.map((line) => (JSON.parse(line.slice(6)) as JsonObject)['id'])).toEqual([
      reply.headers.get('x-receipt-id'),
    ]);
    ended.abort();
    await expect(reader.read()).rejects.toThrow(/abort/i);
  });

  it('holds the places for callers with a key or a balance that anybody could take at no cost', async () => {
    const live = `${CALLS}/live`;
    const { did, signed } = await newAgent();
    const { store, tails } = routed.service.services;
    const named = JSON.stringify({ name: 'made by a DID' });
    const made = await routed.service.request('/v1/keys', {
      method: 'POST',
      body: named,
      headers: { 'content-type': 'application/json', ...(await signed('POST', '/v1/keys', named)) },
    });
    const keyOfDid = { authorization: `Bearer ${textOf(made.json['key'])}` };
    const opened = vi.spyOn(tails, 'open');
    onTestFinished(() => opened.mockRestore());
    const isFree = async (headers: Headers): Promise<boolean | undefined> => {
      const { status, body } = await routed.service.app.request(live, { headers });
      expect(status).toBe(200);
      await body?.cancel();
      return opened.mock.lastCall?.[1].isFree;
    };
    expect(await isFree(await apiKey(routed.service, 'pro'))).toBe(false);
    expect(await isFree(await signed('GET', live))).toBe(true);
    expect(await isFree(keyOfDid)).toBe(true);
    const { lowBalance } = routed.service.config.sales;
    const credit = (amount: bigint) =>
      creditCaller(store, { caller: did, amount, reference: `${did} ${amount}`, memo: '', now: 0 });
    await credit(lowBalance - 1n);
    expect(await isFree(await signed('GET', live))).toBe(true);
    await credit(1n);
    expect(await isFree(await signed('GET', live))).toBe(false);
    expect(await isFree(keyOfDid)).toBe(false);
  });

  it('is not opened by HEAD, and ten of one caller are open at most, however many are asked for at once', async () => {
    const headers = await apiKey(routed.service, 'pro');
    const ended = new AbortController();
    const ask = (method: string) =>
      fetch(`${routed.url}${CALLS}/live`, { method, headers, signal: ended.signal });
    const heads = await Promise.all(Array.from({ length: 11 }, () => ask('HEAD')));
    expect(new Set(heads.map(({ status }) => status))).toEqual(new Set([200]));
    const places = ALONE ? 10 : 30;
    const lives = await Promise.all(Array.from({ length: places + 3 }, () => ask('GET')));
    const countOf = (wanted: number): number => lives.filter(({ status }) => status === wanted).length;
    expect([countOf(200), countOf(429)]).toEqual([places, 3]);
    ended.abort();
  });

  it('is followed no longer once the key is revoked', async () => {
    const owner = await apiKey(routed.service, 'pro');
    const { json } = await routed.service.post('/v1/keys', { name: 'follower' }, owner);
    const headers = { authorization: `Bearer ${textOf(json['key'])}` };
    const live = await fetch(`${routed.url}${CALLS}/live`, { headers });
    const reader = (live.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const path = `/v1/keys/${textOf(json['id'])}`;
    expect((await routed.service.request(path, { method: 'DELETE', headers: owner })).status).toBe(200);
    expect(await reader.read()).toMatchObject({ done: true });
  });

  it('has the rows of settled calls again after a crash, without what only the process knew', async () => {
    const headers = await apiKey(routed.service, 'pro');
    const { calls } = routed.service.services.store;
    const lost = vi.spyOn(calls, 'put').mockResolvedValue();
    const unmarked = vi.spyOn(calls, 'unmark').mockResolvedValue();
    // Not through the balancer: this must be the process that loses it.
    const body = JSON.stringify({ model: MODEL, messages });
    const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
    const reply = await toReply(await routed.service.app.request(CHAT, sent));
    await routed.service.restart();
    lost.mockRestore();
    unmarked.mockRestore();
    const receipt = (reply.json['svc'] as JsonObject)['receipt'] as JsonObject;
    const [row] = await listed(headers, 1);
    expect(row).toMatchObject({
      id: receipt['receipt_id'],
      at: new Date(routed.service.clock()).toISOString(),
      model: MODEL,
      cost_usdc: (receipt['settlement'] as JsonObject)['amount'],
      request_hash: (receipt['request'] as JsonObject)['hash'],
      total_ms: null,
      route_reason: null,
    });
    expect((await get(`${CALLS}/${textOf(row?.['id'])}`, headers)).json).toMatchObject({
      timeline: [],
      billing: null,
    });
  });

  it('keeps each call for a year, and then deletes its row', async () => {
    const own = await startRouted({ database });
    onTestFinished(() => own.close());
    const headers = await apiKey(own.service, 'pro');
    const reply = await own.chat({}, headers);
    await own.service.listed();
    const path = `${CALLS}/${textOf(reply.headers.get('x-receipt-id'))}`;
    own.service.clock.advance(365 * DAY_MS);
    await own.service.restart();
    expect((await own.service.get(path, headers)).status).toBe(200);
    own.service.clock.advance(DAY_MS);
    await own.service.restart();
    await vi.waitFor(async () => expectRefused(await own.service.get(path, headers), 'not_found'), 60_000);
    expect(rowsOf(await own.service.get(`${CALLS}?from=2027-01-01T00:00:00Z`, headers))).toEqual([]);
  });
});
