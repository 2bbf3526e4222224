import { anchoredHash, fromHex, type JsonObject, toBase64url } from '@tallystick/core';
import { afterEach, describe, expect, it } from 'vitest';
import { hashOf } from './hashes.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  receiptIdOf,
  startTestService,
  type TestService,
} from './service.ts';

const hex = (digit: string) => digit.repeat(64);
const BILL = {
  machine_commitment: hex('1'),
  customer_commitment: hex('2'),
  salt_commitment: hex('3'),
  window_start: '2027-02-01T00:00:00Z',
  window_end: '2027-03-01T00:00:00Z',
  service_unit: 'pick',
  billed_unit_count: 2,
  rate: { unit_rate_minor: 5, currency: 'EUR', rate_commitment: hex('4') },
};
const LEAF = { receipt_sha256: hex('a'), unit: 1 };
/** Mints whose clock the receipt follows: the keyring of a test is as old as its service. */
const METERED = { ...BILL, evidence: [LEAF] };

const FREE = ['/v1/receipt/free', { input: 'x', purpose: 'p' }] as const;
const METER = ['/v1/receipt/metering', METERED] as const;
const MINTS = [
  FREE,
  ['/v1/receipt/emit', { input: 'x' }],
  ['/v1/receipt/emit?profile=pq', { payload: [1] }],
  ['/v1/receipt/emit?profile=nano', { input: 'x' }],
  METER,
] as const;

let service: TestService;
afterEach(() => service.close());

const isBare = (path: string) => path.endsWith('nano') || path.endsWith('metering');
const anchorOf = async (receipt: string) => {
  const hash = toBase64url(fromHex(anchoredHash(JSON.parse(receipt)), 32));
  return service.get(`/v1/anchor/by-hash/${hash}`);
};
const count = async () => (await service.get('/v1/log')).json.accepted;

describe.each(DATABASES)('anchor: true on %s', (database) => {
  it.each(MINTS)('%s is in the log when it is answered, and says where', async (path, body) => {
    service = await startTestService({ database });
    const key = await apiKey(service, 'pro');
    const { status, text, json, headers } = await service.post(path, { ...body, anchor: true }, key);
    expect(status, text).toBe(200);
    const found = await anchorOf(text);
    const ref = found.json.anchor_ref;
    expect(ref).toBe('urn:anchor:pending:2027-03-01T12:00Z:0');
    expect(headers.get('x-anchor-ref')).toBe(ref);
    const members = { anchor_ref: json.anchor_ref, tier: json.tier };
    expect(members).toEqual(isBare(path) ? {} : { anchor_ref: ref, tier: 'pro' });
    const id = receiptIdOf(text);
    const read = await service.get(`/v1/receipt/${id}`);
    expect(read.text).toBe(text);
    expect(read.headers.get('x-anchor-ref')).toBe(ref);
    expect((await service.post('/v1/receipt/verify', text)).json).toMatchObject({
      valid: true,
      issuer: { trusted: true },
    });
  });

  it.each(MINTS)('%s again under its key is the same receipt, anchored once', async (path, body) => {
    service = await startTestService({ database });
    const key = { ...(await apiKey(service, 'pro')), 'idempotency-key': 'k' };
    const send = () => service.post(path, { ...body, anchor: true }, key);
    const replies = [...(await Promise.all(Array.from({ length: 10 }, send))), await send()];
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(new Set(replies.map(({ headers }) => headers.get('x-anchor-ref'))).size).toBe(1);
    expect(replies.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
    expect(await count()).toBe(1);
    expectProblem(await service.post(path, body, key), 'idempotency_key_reused');
  });

  it.each(MINTS)('%s with a Scale or Enterprise key is anchored without asking', async (path, body) => {
    service = await startTestService({ database });
    for (const tier of ['scale', 'enterprise'] as const) {
      const { text, json, headers } = await service.post(path, body, await apiKey(service, tier));
      expect(headers.get('x-anchor-ref')).toBe((await anchorOf(text)).json.anchor_ref);
      const members = isBare(path) ? {} : { tier, anchor_ref: headers.get('x-anchor-ref') };
      expect(json).toMatchObject(members);
      service.clock.advance(1000);
    }
  });
});

describe('a key', () => {
  it.each(MINTS)('of Pro leaves %s out of the log unless asked', async (path, body) => {
    service = await startTestService();
    const { text, json, headers } = await service.post(path, body, await apiKey(service, 'pro'));
    expect(headers.has('x-anchor-ref')).toBe(false);
    expect(json.anchor_ref).toBeUndefined();
    expect(json.tier).toBe(isBare(path) ? undefined : 'pro');
    expectProblem(await anchorOf(text), 'anchor_not_found');
    expect((await service.post('/v1/receipt/verify', text)).json.valid).toBe(true);
  });

  it.each(MINTS)('is what anchor on %s needs', async (path, body) => {
    service = await startTestService();
    expectProblem(await service.post(path, { ...body, anchor: true }), 'api_key_missing', 'anchor');
    expect((await service.post(path, { ...body, anchor: false })).status).toBe(200);
  });

  it('lifts the daily limit of free mints', async () => {
    service = await startTestService({ env: { TALLY_FREE_MINT_PER_DAY: '1' } });
    const key = await apiKey(service, 'pro');
    await service.post(...FREE);
    expectProblem(await service.post(...FREE), 'rate_limited');
    for (let i = 0; i < 3; i++) expect((await service.post(...FREE, key)).status).toBe(200);
  });
});

describe('a bill in lines', () => {
  const lines = (...values: JsonObject[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
  const send = (body: string, headers = {}) =>
    service.post('/v1/receipt/metering', body, { 'content-type': 'application/x-ndjson', ...headers });

  it('is anchored where its first line says so, and is the bill of the other form', async () => {
    service = await startTestService();
    const key = await apiKey(service, 'pro');
    const streamed = await send(lines({ ...BILL, anchor: true }, LEAF), key);
    expect(streamed.status, streamed.text).toBe(200);
    expect(streamed.headers.get('x-anchor-ref')).toBe('urn:anchor:pending:2027-03-01T12:00Z:0');
    const whole = await service.post(METER[0], { ...METERED, anchor: true }, key);
    expect(whole.text).toBe(streamed.text);
    expect(whole.headers.get('x-anchor-ref')).toBe(streamed.headers.get('x-anchor-ref'));
    expect(await count()).toBe(1);
  });

  it('is refused at its first line without a key', async () => {
    service = await startTestService();
    const refused = await send(lines({ ...BILL, anchor: true }, { no: 'leaf' }));
    expectProblem(refused, 'api_key_missing', 'anchor');
    expectProblem(await send(lines(BILL), { authorization: 'Bearer x' }), 'api_key_invalid');
  });

  it('that had a receipt before is anchored when that is asked later', async () => {
    service = await startTestService();
    const plain = await service.post(...METER);
    const { text, headers } = await service.post(
      METER[0],
      { ...METERED, anchor: true },
      await apiKey(service, 'pro'),
    );
    expect(text).toBe(plain.text);
    expect(headers.get('x-anchor-ref')).toBe((await anchorOf(text)).json.anchor_ref);
  });
});

it('a receipt whose hash somebody sent is read with its reference, and is not changed', async () => {
  service = await startTestService();
  const { text } = await service.post(...FREE);
  const hash = toBase64url(fromHex(anchoredHash(JSON.parse(text)), 32));
  await service.post(
    '/v1/anchor/batch',
    { canonical_sha256: [hashOf('x'), hash] },
    await apiKey(service, 'scale'),
  );
  const read = await service.get(`/v1/receipt/${receiptIdOf(text)}`);
  expect(read.text).toBe(text);
  expect(read.headers.get('x-anchor-ref')).toBe('urn:anchor:pending:2027-03-01T12:00Z:1');
});
