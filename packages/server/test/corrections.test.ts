import { anchoredHash, type JsonObject, type JsonValue, trustOf, verifyCorrections } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { expectSchema } from './schemas.ts';
import {
  apiKey,
  DATABASES,
  expectProblem,
  type Reply,
  receiptIdOf,
  startTestService,
  type TestService,
} from './service.ts';
import { newTenant } from './tenant.ts';

const PATH = '/v1/receipt/corrections';
type Key = Record<string, string>;

let service: TestService;
const hex = (digit: string): string => digit.repeat(64);
const BILL = {
  machine_commitment: hex('1'),
  customer_commitment: hex('2'),
  salt_commitment: hex('3'),
  window_start: '2027-02-01T00:00:00Z',
  window_end: '2027-03-01T00:00:00Z',
  service_unit: 'pick',
  rate: { unit_rate_minor: 5, currency: 'EUR', rate_commitment: hex('4') },
  evidence: [],
};
let minted = 0;
const mint = async (key: Key): Promise<JsonObject> =>
  (await service.post('/v1/receipt/free', { input: `input ${(minted += 1)}`, purpose: 'p' }, key)).json;
const meter = async (key: Key, billed: number): Promise<JsonObject> =>
  (await service.post('/v1/receipt/metering', { ...BILL, billed_unit_count: billed }, key)).json;
const idOf = (receipt: JsonObject): string => receiptIdOf(JSON.stringify(receipt));
const correct = (first: JsonObject, second: JsonObject, key: Key, more: JsonObject = {}): Promise<Reply> =>
  service.post(PATH, { corrects: idOf(first), correction: idOf(second), ...more }, key);
const correctionsOf = (receipt: JsonObject, key: Key = {}): Promise<Reply> =>
  service.get(`/v1/receipt/${idOf(receipt)}/corrections`, key);
const nameOf = (receipt: JsonObject) => ({
  receipt_id: idOf(receipt),
  receipt_sha256: `sha256:${anchoredHash(receipt)}`,
});

async function judged(...receipts: JsonValue[]) {
  const { json } = await service.get('/.well-known/trust.json');
  const trust = trustOf((json as unknown as { issuers: Parameters<typeof trustOf>[0] }).issuers);
  return verifyCorrections(receipts, { now: service.clock(), trust });
}

describe.each(DATABASES)('corrections over %s', (database) => {
  let key: Key;
  beforeAll(async () => {
    service = await startTestService({ database });
    key = await apiKey(service, 'pro');
  });
  afterAll(() => service.close());

  it.each(['envelope', 'metering'])(
    'links two receipts of the family %s, and hides neither',
    async (family) => {
      const made = (index: number) => (family === 'envelope' ? mint(key) : meter(key, index));
      const [first, second] = [await made(1), await made(2)];
      const before = (await service.get(`/v1/receipt/${idOf(first)}`)).text;
      const reply = await correct(first, second, key, { reason: 'One unit was counted twice.' });
      expect(reply.status, reply.text).toBe(200);
      expectSchema('envelope', reply.json);
      const call = { kind: 'correction', corrects: nameOf(first), correction: nameOf(second) };
      expect(reply.json['call']).toEqual({ ...call, reason: 'One unit was counted twice.' });
      expect(reply.headers.get('x-anchor-ref')).toBe(reply.json['anchor_ref']);
      expect(await judged(first, second, reply.json)).toMatchObject([
        { valid: true, trusted: true, corrects: { state: 'valid' }, correction: { state: 'valid' } },
      ]);
      expect((await service.get(`/v1/receipt/${idOf(first)}`)).text).toBe(before);
      const link = { link_id: idOf(reply.json), reason: 'One unit was counted twice.' };
      expect((await correctionsOf(first)).json).toEqual({
        receipt_id: idOf(first),
        corrected_by: { ...link, ...nameOf(second), at: reply.json['issued_at'] },
        corrects: null,
      });
      expect((await correctionsOf(second)).json).toMatchObject({
        corrected_by: null,
        corrects: { ...link, ...nameOf(first) },
      });
      const stored = await service.get(`/v1/receipt/${idOf(reply.json)}`);
      expect(stored.text).toBe(reply.text);
    },
  );

  it('is made once: the same request gives the same envelope, another one is refused', async () => {
    const [first, second, third] = [await mint(key), await mint(key), await mint(key)];
    const reply = await correct(first, second, key);
    expect((await correct(first, second, key)).text).toBe(reply.text);
    const refused = async (a: JsonObject, b: JsonObject, field: string, more = {}) =>
      expectProblem(await correct(a, b, key, more), 'already_corrected', field);
    await refused(first, third, 'corrects');
    await refused(first, second, 'corrects', { reason: 'Another reason.' });
    await refused(third, second, 'correction');
    await refused(second, first, 'correction');
    expect((await correct(second, third, key)).status).toBe(200);
    expect(await judged(third, first, second, reply.json)).toMatchObject([{ valid: true }]);
  });

  it('of many at once, one is made', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => mint(key)));
    const replies = await Promise.all(others.map((one) => correct(first!, one, key)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(3);
  });

  it('is signed all the same where the process had died before', async () => {
    const [first, second] = [await mint(key), await mint(key)];
    const lost = service.processes.map(({ store }) =>
      vi.spyOn(store, 'putReceipt').mockRejectedValueOnce(new Error('down')),
    );
    expect((await correct(first, second, key)).status).toBe(500);
    for (const one of lost) one.mockRestore();
    expect((await correctionsOf(first)).json).toMatchObject({ corrected_by: null });
    const reply = await correct(first, second, key);
    expect(reply.status).toBe(200);
    expect((await correctionsOf(first)).json).toMatchObject({ corrected_by: { link_id: idOf(reply.json) } });
  });

  it('is for the account of both receipts alone', async () => {
    const other = await apiKey(service, 'pro');
    const [mine, also, theirs, nobodys] = [
      await mint(key),
      await mint(key),
      await mint(other),
      await mint({}),
    ];
    expectProblem(await correct(mine, also, {}), 'api_key_missing');
    expectProblem(await correct(mine, also, other), 'receipt_not_found', 'corrects');
    expectProblem(await correct(mine, theirs, key), 'receipt_not_found', 'correction');
    expectProblem(await correct(nobodys, mine, key), 'receipt_not_found', 'corrects');
    expect((await correctionsOf(mine)).json).toMatchObject({ corrected_by: null, corrects: null });
  });

  it('is refused of other families, of one receipt twice, and of a link', async () => {
    const [first, second] = [await mint(key), await mint(key)];
    const link = (await correct(first, second, key)).json;
    const emitted = (await service.post('/v1/receipt/emit', { input: 'x' }, key)).json;
    expectProblem(await correct(second, second, key), 'invalid_field', 'correction');
    expectProblem(await correct(emitted, second, key), 'invalid_field', 'corrects');
    expectProblem(await correct(link, await mint(key), key), 'invalid_field', 'corrects');
    expectProblem(await correct(second, await meter(key, 7), key), 'invalid_field', 'correction');
    expectProblem(
      await service.get('/v1/receipt/r_env_1700000000_0123456789ab/corrections'),
      'receipt_not_found',
    );
  });

  it('of a tenant’s receipts is read with the tenant’s key alone', async () => {
    const tenant = await newTenant(service);
    const metered = async (billed: number) => meter(tenant.headers, billed);
    const [first, second] = [await metered(11), await metered(12)];
    const reply = await correct(first, second, tenant.headers);
    expect(reply.status, reply.text).toBe(200);
    expectProblem(await correctionsOf(first), 'receipt_not_found');
    expect((await correctionsOf(first, tenant.headers)).json).toMatchObject({
      corrected_by: { link_id: idOf(reply.json) },
    });
    expectProblem(await service.get(`/v1/receipt/${idOf(reply.json)}`), 'receipt_not_found');
  });
});
