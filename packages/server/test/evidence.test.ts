import {
  CompactRange,
  type JsonObject,
  leafHash,
  sha256Hex,
  toHex,
  utf8,
  verifyBundle,
} from '@tallystick/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sweepRooms } from '../../receipts/src/evidence/sweep.ts';
import { purgeExpired } from '../../receipts/src/retention.ts';
import { signDailyHeads } from '../../receipts/src/streams/heads.ts';
import {
  DATABASES,
  expectProblem,
  receiptIdOf,
  runningClock,
  startTestService,
  type TestService,
} from './service.ts';
import { evidenceOf, inMemory, newTenant, type TestTenant } from './tenant.ts';

const DAY = 86_400_000;

let service: TestService;
let tenant: TestTenant;
afterEach(() => service.close());

async function start(database: (typeof DATABASES)[number] = 'sqlite'): Promise<void> {
  service = await startTestService({ database, clock: runningClock() });
  tenant = await newTenant(service);
}

const emit = async (input: string, profile = 'standard'): Promise<string> =>
  (await service.post(`/tenants/${tenant.id}/receipts?profile=${profile}`, { input }, tenant.headers)).text;

const verdictOf = (bytes: Uint8Array) => verifyBundle(inMemory(bytes), { now: service.clock() + 2000 });

/** The id of the receipt of the first export in a list. */
const receiptIdIn = (list: JsonObject): string =>
  (list['exports'] as unknown as readonly { receipt_id: string }[])[0]?.receipt_id ?? '';

/** The verdict on the bundle of what was issued before a time, in milliseconds. */
async function verdictUntil(end: number) {
  const to = new Date(end).toISOString().replace(/\.\d+Z/, 'Z');
  return verdictOf((await evidenceOf(service, tenant, { query: `?to=${to}` })).bytes);
}

describe.each(DATABASES)('the evidence room on %s', (database) => {
  it('gives a bundle that verifies, and whose manifest names every file', async () => {
    await start(database);
    for (const profile of ['standard', 'nano', 'pq']) await emit(`one of ${profile}`, profile);
    const { status, headers, bytes } = await evidenceOf(service, tenant);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/zip']);
    const verdict = await verdictOf(bytes);
    const { root } = verdict.manifest.trust;
    expect(verdict).toMatchObject({
      receipts: 3,
      untrusted: 0,
      metering: 0,
      root,
      trusted: false,
      purged: 0,
    });
    const { json } = await service.get(`/tenants/${tenant.id}/evidence/exports`, tenant.headers);
    expect(json.exports).toMatchObject([{ manifest_sha256: verdict.manifestSha256, bytes: bytes.length }]);
    expect(verdict.manifest).toMatchObject({ tenant: tenant.id, retention_days: 365 });
    const known = await verifyBundle(inMemory(bytes), { now: service.clock() + 2000, roots: [root] });
    expect(known.trusted).toBe(true);
  });

  it('forgets what is 366 days old, and says so in a signed record', async () => {
    await start(database);
    const old = receiptIdOf(await emit('the first day'));
    const pq = receiptIdOf(await emit('kept for seven years', 'pq'));
    service.clock.advance(364 * DAY);
    await service.restart();
    await emit('a later day');
    expect((await verdictOf((await evidenceOf(service, tenant)).bytes)).receipts).toBe(3);
    service.clock.advance(DAY);
    expectProblem(await service.get(`/v1/receipt/${old}`, tenant.headers), 'receipt_purged');
    await service.restart();
    await purgeExpired(service.services.store, service.clock());
    const { bytes } = await evidenceOf(service, tenant);
    const verdict = await verdictOf(bytes);
    // The later one, and the receipt of the export before.
    expect(verdict).toMatchObject({ receipts: 2, purged: 2 });
    expect(verdict.manifest.purged).toMatchObject([{ sequence: 1, count: 2 }]);
    expect(Buffer.from(bytes).includes(`"receipt_id":"${old}","receipt_sha256"`)).toBe(false);
    expectProblem(await service.get(`/v1/receipt/${old}`, tenant.headers), 'receipt_purged');
    expect((await service.get(`/v1/receipt/${pq}`, tenant.headers)).status).toBe(200);
  });
});

describe.each(DATABASES)('completeness on %s', (database) => {
  it('is shown by heads over all that was stored, to the last receipt before the export', async () => {
    await start(database);
    for (let i = 0; i < 5; i++) await emit(`${i}`);
    const { completeness } = await verdictOf((await evidenceOf(service, tenant)).bytes);
    expect(completeness).toMatchObject({
      complete: true,
      first: 1,
      last: 5,
      given: 5,
      uncounted: 0,
      absent: [],
      faults: [],
    });
    const again = await verdictOf((await evidenceOf(service, tenant)).bytes);
    expect(again.completeness).toMatchObject({ complete: true, last: 6 });
  });

  it('names a receipt that the service leaves out of a bundle, and one that was deleted', async () => {
    await start(database);
    const nano = receiptIdOf(await emit('soon gone', 'nano'));
    await emit('stays');
    await signDailyHeads(service.services);
    service.clock.advance(2 * DAY);
    await emit('on another day');
    await signDailyHeads(service.services);
    service.clock.advance(29 * DAY);
    await service.restart();
    await purgeExpired(service.services.store, service.clock());
    expectProblem(await service.get(`/v1/receipt/${nano}`, tenant.headers), 'receipt_purged');
    const left = receiptIdOf(await emit('inconvenient'));
    await emit('another');
    const whole = await verdictOf((await evidenceOf(service, tenant)).bytes);
    expect(whole.completeness).toMatchObject({
      complete: true,
      given: 4,
      absent: [{ index: 1, reason: 'deleted' }],
    });
    const { tenants } = service.services.store;
    const room = tenants.room.bind(tenants);
    tenants.room = async (...of) => (await room(...of)).filter(({ id }) => id !== left);
    const { completeness } = await verdictOf((await evidenceOf(service, tenant)).bytes);
    expect(completeness).toMatchObject({ complete: false, faults: [{ kind: 'left_out', index: 4 }] });
  });

  it('of a period that is over is shown by the first head after it', async () => {
    await start(database);
    const midnight = Math.ceil((service.clock() + DAY / 2) / DAY) * DAY;
    service.clock.advance(midnight - DAY / 2 - service.clock());
    await emit('at noon');
    await signDailyHeads(service.services);
    const left = receiptIdOf(await emit('after the day’s head'));
    service.clock.advance(DAY / 4);
    await emit('in the evening');
    service.clock.advance(DAY / 4 + 60_000);
    await emit('on the next day');
    await signDailyHeads(service.services);
    await emit('after the next day’s head');
    const verdict = async () => (await verdictUntil(midnight)).completeness;
    expect(await verdict()).toMatchObject({
      complete: true,
      last: 4,
      given: 3,
      uncounted: 0,
      absent: [{ index: 4, reason: 'after the period' }],
    });
    const { tenants } = service.services.store;
    const room = tenants.room.bind(tenants);
    tenants.room = async (...of) => (await room(...of)).filter(({ id }) => id !== left);
    expect(await verdict()).toMatchObject({ complete: false, faults: [{ kind: 'left_out', index: 2 }] });
  });

  it('of a period that is over is shown by its last head where nothing was stored since', async () => {
    await start(database);
    await emit('at noon');
    await signDailyHeads(service.services);
    service.clock.advance(2 * DAY);
    const { completeness } = await verdictUntil(service.clock() - DAY);
    expect(completeness).toMatchObject({ complete: true, last: 1, given: 1, absent: [] });
  });

  it('is not shown for a period before the stream was opened', async () => {
    await start(database);
    await emit('the first');
    await signDailyHeads(service.services);
    const { completeness } = await verdictUntil(service.clock() - DAY);
    expect(completeness).toBeNull();
  });

  it('names a receipt that the service adds to a bundle', async () => {
    await start(database);
    await emit('first');
    const other = await newTenant(service);
    await service.post(`/tenants/${other.id}/receipts`, { input: 'of somebody else' }, other.headers);
    service.clock.advance(DAY / 24);
    await emit('second');
    const { tenants } = service.services.store;
    const room = tenants.room.bind(tenants);
    tenants.room = async (of, ...rest) =>
      [...(await room(of, ...rest)), ...(await room(other.id, ...rest))].toSorted(
        (one, two) => one.issuedAt - two.issuedAt || (one.id < two.id ? -1 : 1),
      );
    const { completeness } = await verdictOf((await evidenceOf(service, tenant)).bytes);
    expect(completeness).toMatchObject({ complete: false, faults: [{ kind: 'added', index: null }] });
  });
});

describe('an export', () => {
  it('goes on where it broke off, to the same bytes', async () => {
    await start();
    for (let i = 0; i < 30; i++) await emit(`${i}`);
    const whole = await evidenceOf(service, tenant);
    const etag = whole.headers.get('etag') ?? '';
    await emit('one that came later');
    const size = whole.bytes.length;
    const { json } = await service.get(`/tenants/${tenant.id}/evidence/exports`, tenant.headers);
    for (const from of [0, 1, 29, 5000, Math.floor(size / 2), size - 300, size - 1]) {
      const rest = await evidenceOf(service, tenant, { more: { range: `bytes=${from}-`, 'if-range': etag } });
      expect([rest.status, rest.headers.get('content-range')]).toEqual([
        206,
        `bytes ${from}-${size - 1}/${size}`,
      ]);
      expect(Buffer.compare(rest.bytes, whole.bytes.subarray(from)), `from ${from}`).toBe(0);
      expect(rest.headers.get('x-receipt-id')).toBe(receiptIdIn(json));
      expect(rest.headers.get('content-length')).toBe(String(size - from));
    }
    const middle = await evidenceOf(service, tenant, {
      more: { range: 'bytes=100-50000', 'if-range': etag },
    });
    expect(Buffer.compare(middle.bytes, whole.bytes.subarray(100, 50_001))).toBe(0);
    const past = await service.get(`/tenants/${tenant.id}/evidence`, {
      ...tenant.headers,
      range: `bytes=${size}-`,
      'if-range': etag,
    });
    expectProblem(past, 'range_invalid');
    expect(past.headers.get('content-range')).toBe(`bytes */${size}`);
    service.clock.advance(DAY);
    const later = await evidenceOf(service, tenant, { more: { range: 'bytes=1-', 'if-range': etag } });
    expect([later.status, later.headers.get('etag') === etag]).toEqual([200, false]);
  });

  it('waits for a receipt that is signed and not yet stored', async () => {
    await start();
    const { store, unstored } = service.services;
    const signed = Promise.withResolvers<void>();
    const mayStore = Promise.withResolvers<void>();
    const putReceipt = store.putReceipt.bind(store);
    vi.spyOn(store, 'putReceipt').mockImplementationOnce(async (...put) => {
      signed.resolve();
      await mayStore.promise;
      return putReceipt(...put);
    });
    const end = unstored.end.bind(unstored);
    vi.spyOn(unstored, 'end').mockImplementationOnce((of) => {
      const ended = end(of);
      mayStore.resolve();
      return ended;
    });
    const emitted = emit('stored late');
    await signed.promise;
    const { bytes } = await evidenceOf(service, tenant);
    mayStore.resolve();
    await emitted;
    expect((await verdictOf(bytes)).receipts).toBe(1);
  });

  it('of many parts streams part by part, and goes on in any of them', async () => {
    await start();
    for (let i = 0; i < 1_100; i += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, j) => emit(`${i + j}`, 'nano')));
    }
    const whole = await evidenceOf(service, tenant);
    expect((await verdictOf(whole.bytes)).receipts).toBe(1_100);
    const etag = whole.headers.get('etag') ?? '';
    const text = Buffer.from(whole.bytes).toString('latin1');
    for (const path of ['receipts/000002', 'anchors/000002', 'receipts/000003']) {
      const from = text.indexOf(path, text.indexOf('README.md# ')) + 7;
      const rest = await evidenceOf(service, tenant, { more: { range: `bytes=${from}-`, 'if-range': etag } });
      expect(Buffer.compare(rest.bytes, whole.bytes.subarray(from)), path).toBe(0);
    }
    const response = await service.app.request(`/tenants/${tenant.id}/evidence`, { headers: tenant.headers });
    const chunks: number[] = [];
    for await (const chunk of response.body ?? []) chunks.push((chunk as Uint8Array).length);
    expect(chunks.length).toBeGreaterThan(12);
    expect(Math.max(...chunks)).toBeLessThan(600_000);
  });

  it('is sent before the room is read, and is made to its end for a caller that leaves and comes back', async () => {
    await start();
    for (let i = 0; i < 30; i++) await emit(`${i}`);
    const { tenants } = service.services.store;
    const room = tenants.room.bind(tenants);
    const mayRead = Promise.withResolvers<void>();
    vi.spyOn(tenants, 'room').mockImplementationOnce(async (...of) => {
      await mayRead.promise;
      return room(...of);
    });
    const path = `/tenants/${tenant.id}/evidence`;
    const response = await service.app.request(path, { headers: tenant.headers });
    const reader = response.body?.getReader();
    const seen: Uint8Array[] = [];
    while (!Buffer.concat(seen).includes('trust/trust.json'))
      seen.push((await reader?.read())?.value ?? new Uint8Array());
    await reader?.cancel();
    mayRead.resolve();
    const got = Buffer.concat(seen);
    const rest = await evidenceOf(service, tenant, {
      more: { range: `bytes=${got.length}-`, 'if-range': response.headers.get('etag') ?? '' },
    });
    expect(rest.status).toBe(206);
    expect((await verdictOf(Buffer.concat([got, rest.bytes]))).receipts).toBe(30);
    const { json } = await service.get(`${path}/exports`, tenant.headers);
    expect(json.exports).toHaveLength(1);
  });

  it('breaks off where receipts leave the room before they are read', async () => {
    await start();
    for (let i = 0; i < 3; i++) await emit(`${i}`, 'nano');
    service.clock.advance(30 * DAY - 20_000);
    await service.restart();
    await emit('stays');
    const { tenants } = service.services.store;
    const room = tenants.room.bind(tenants);
    vi.spyOn(tenants, 'room').mockImplementationOnce(async (...of) => {
      service.clock.advance(60_000);
      await purgeExpired(service.services.store, service.clock());
      return room(...of);
    });
    const path = `/tenants/${tenant.id}/evidence`;
    const response = await service.app.request(path, { headers: tenant.headers });
    await expect(response.arrayBuffer()).rejects.toThrow('left the room');
    expect((await service.get(`${path}/exports`, tenant.headers)).json.exports).toEqual([]);
    expect((await verdictOf((await evidenceOf(service, tenant)).bytes)).receipts).toBe(1);
  });

  it('is of a period, and its manifest alone is the same document', async () => {
    await start();
    const first = receiptIdOf(await emit('the first day'));
    service.clock.advance(2 * DAY);
    const second = receiptIdOf(await emit('the third day'));
    const to = new Date(service.clock() - DAY).toISOString().slice(0, 10);
    const query = `?to=${to}`;
    const json = await service.get(`/tenants/${tenant.id}/evidence${query}`, {
      ...tenant.headers,
      accept: 'application/json',
    });
    const etag = /^"([0-9a-f]{32})-json"$/.exec(json.headers.get('etag') ?? '')?.[1];
    const { status, bytes } = await evidenceOf(service, tenant, {
      query,
      more: { range: 'bytes=0-', 'if-range': `"${etag}"` },
    });
    expect(status).toBe(206);
    const verdict = await verdictOf(bytes);
    expect(verdict.manifest).toEqual(json.json);
    expect(verdict.manifestSha256).toBe(sha256Hex(utf8(json.text)));
    const text = Buffer.from(bytes).toString('latin1');
    expect([text.includes(first), text.includes(second)]).toEqual([true, false]);
    for (const [wrong, field] of [
      ['?from=yesterday', 'from'],
      ['?to=2027-02-30', 'to'],
      ['?from=2027-02-01&to=2027-01-01', 'to'],
    ]) {
      expectProblem(
        await service.get(`/tenants/${tenant.id}/evidence${wrong}`, tenant.headers),
        'invalid_field',
        field,
      );
    }
  });

  it.each([
    ['?from=9999-12-31T23:59:59Z', 'from', /future/],
    ['?from=9999-12-31&to=9999-12-31T23:59:59Z', 'from', /future/],
    ['?to=0000-01-01T00:00:00Z', 'to', /365 days/],
  ])('of no instant that is in the room is refused, and not counted: %s', async (query, field, detail) => {
    await start();
    const path = `/tenants/${tenant.id}/evidence`;
    const refused = await service.get(`${path}${query}`, tenant.headers);
    expectProblem(refused, 'invalid_field', field);
    expect(refused.json.detail).toMatch(detail);
    expect(refused.headers.get('ratelimit')).toBe(null);
    expect((await service.get(`${path}/exports`, tenant.headers)).json.exports).toEqual([]);
  });

  it('is receipted, in the room and in a list', async () => {
    await start();
    const { bytes } = await evidenceOf(service, tenant);
    const { manifestSha256 } = await verdictOf(bytes);
    const { json } = await service.get(`/tenants/${tenant.id}/evidence/exports`, tenant.headers);
    expect(json.exports).toMatchObject([{ manifest_sha256: manifestSha256, receipts: 0 }]);
    const id = receiptIdIn(json);
    const receipt = await service.get(`/v1/receipt/${id}`, tenant.headers);
    expect(receipt.json).toMatchObject({ purpose: 'evidence export', subject: { sha256: manifestSha256 } });
    const next = await evidenceOf(service, tenant);
    expect((await verdictOf(next.bytes)).receipts).toBe(1);
    expect(Buffer.from(next.bytes).includes(`"receipt_id":"${id}","receipts":0`)).toBe(true);
  });

  it('is not made where the headers alone are asked for', async () => {
    await start();
    const path = `/tenants/${tenant.id}/evidence`;
    const head = (headers = {}, query = '') =>
      service.request(`${path}${query}`, { method: 'HEAD', headers });
    const { status, headers } = await head(tenant.headers);
    expect([status, headers.get('content-type'), headers.get('x-receipt-id')]).toEqual([
      200,
      'application/zip',
      null,
    ]);
    expect([(await head()).status, (await head(tenant.headers, '?form=2027-01-01')).status]).toEqual([
      401, 422,
    ]);
    const { json } = await service.get(`${path}/exports`, tenant.headers);
    expect(json.exports).toEqual([]);
  });

  it('holds metering receipts with the digests of their evidence', async () => {
    await start();
    const unit = await emit('a pallet');
    const hex = (digit: string): string => digit.repeat(64);
    const bill = {
      machine_commitment: hex('1'),
      customer_commitment: hex('2'),
      salt_commitment: hex('3'),
      window_start: '2026-01-01T00:00:00Z',
      window_end: '2026-01-15T00:00:00Z',
      service_unit: 'pallet_moved',
      billed_unit_count: 2,
      rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: hex('4') },
      evidence: [{ unit: 1, receipt_sha256: hex('a') }],
    };
    const minted = await service.post('/v1/receipt/metering', bill, tenant.headers);
    expect(minted.status).toBe(200);
    expectProblem(await service.get(`/v1/receipt/${receiptIdOf(minted.text)}`), 'receipt_not_found');
    const { bytes } = await evidenceOf(service, tenant);
    expect(await verdictOf(bytes)).toMatchObject({ receipts: 2, metering: 1 });
    const { receipt_set_digest } = (minted.json.signed_body as { metered: { receipt_set_digest: string } })
      .metered;
    const text = Buffer.from(bytes).toString('latin1');
    expect(text).toContain(`metering/000001.ndjson`);
    expect(text.split(receipt_set_digest)).toHaveLength(3);
    expect(text).toContain(receiptIdOf(unit));
  });
});

describe('what left the room', () => {
  it('is in one record each, which follow one another, by a root that its ids make', async () => {
    await start();
    const nano = [];
    for (let i = 0; i < 3; i++) nano.push(receiptIdOf(await emit(`${i}`, 'nano')));
    const sweep = () => sweepRooms(service.services, service.clock());
    service.clock.advance(29 * DAY);
    await sweep();
    expect(await service.services.store.tenants.newestPurge(tenant.id)).toBeNull();
    service.clock.advance(2 * DAY);
    await purgeExpired(service.services.store, service.clock());
    await sweep();
    await sweep();
    const first = await service.services.store.tenants.newestPurge(tenant.id);
    const range = new CompactRange();
    const seconds = (id: string): number => Number(id.split('_')[2]);
    for (const id of nano.toSorted((a, b) => seconds(a) - seconds(b) || (a < b ? -1 : 1)))
      range.append(leafHash(utf8(id)));
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      sequence: 1,
      count: 3,
      profiles: { nano: 3 },
      ids_root: toHex(range.root()),
      previous: null,
    });
    await emit('one more', 'nano');
    service.clock.advance(31 * DAY);
    await Promise.all([sweep(), sweep(), sweep()]);
    const second = await service.services.store.tenants.newestPurge(tenant.id);
    expect(JSON.parse(second?.body ?? '')).toMatchObject({
      sequence: 2,
      count: 1,
      previous: sha256Hex(utf8(first?.body ?? '')),
    });
    const { bytes } = await evidenceOf(service, tenant);
    expect(await verdictOf(bytes)).toMatchObject({ receipts: 0, purged: 4 });
  });
});
