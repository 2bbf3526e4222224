import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, startTestService, type TestService, testClock } from '../../test/service.ts';

const ONE = '/v1/receipt/verify';
const MANY = '/v1/receipts/verify';

describe('verify', () => {
  let service: TestService;
  let receipts: string[];
  beforeAll(async () => {
    service = await startTestService();
    const free = await service.post('/v1/receipt/free', { input: 'x', purpose: 'p' });
    const emitted = await Promise.all(
      ['nano', 'standard', 'pq'].map((profile) =>
        service.post(`/v1/receipt/emit?profile=${profile}`, { input: 'x' }),
      ),
    );
    receipts = [free, ...emitted].map(({ text }) => text);
  });
  afterAll(() => service.close());

  it('names a member that is not known beside a receipt', async () => {
    const body = `{"receipt":${receipts[0]},"evidense":[]}`;
    for (const path of [ONE, MANY]) {
      const reply = await service.post(path, body);
      expectProblem(reply, 'unknown_field', 'evidense');
      expect(reply.json.detail).toContain('receipt, evidence, anchor');
    }
    expectProblem(
      await service.post(MANY, `{"receipts":[${receipts[0]},${body}]}`),
      'unknown_field',
      'receipts[1].evidense',
    );
    expectProblem(await service.post(ONE, '{"receipt":{},"evidense":[]}'), 'not_a_receipt');
  });

  it.each([ONE, MANY])('%s takes a receipt alone and wrapped', async (path) => {
    for (const receipt of receipts) {
      for (const body of [
        receipt,
        `{"receipt":${receipt}}`,
        `{"receipt":${receipt},"evidence":[],"anchor":null}`,
      ]) {
        const { status, json } = await service.post(path, body);
        expect(status).toBe(200);
        expect(json).toMatchObject({
          valid: true,
          integrity: true,
          issuer: { trusted: true, status: 'verified' },
        });
        expect(json.verified_at).toBe('2027-03-01T12:00:00.250Z');
      }
    }
  });

  it('answers 200 and false for a change of any member', async () => {
    for (const receipt of receipts) {
      const document = JSON.parse(receipt) as JsonObject;
      for (const member of Object.keys(document)) {
        if (['v', 'profile', 'receipt_profile', 'receipt'].includes(member)) continue;
        const reply = await service.post(ONE, { ...document, [member]: 'changed' });
        expect(reply.status, `${member}: ${reply.text}`).toBe(200);
        expect(reply.json, member).toMatchObject({
          valid: false,
          integrity: false,
          issuer: { trusted: false },
        });
      }
      for (const signature of receipt.matchAll(/[\w-]{84}(?="[,}])/g)) {
        const forged = receipt.replace(
          signature[0],
          `${signature[0].startsWith('A') ? 'B' : 'A'}${signature[0].slice(1)}`,
        );
        expect((await service.post(ONE, forged)).json).toMatchObject({ valid: false, integrity: false });
      }
    }
  });

  it.each(['more', '__proto__', 'constructor', 'toString'])(
    'answers false for a member %s added afterwards',
    async (name) => {
      for (const receipt of receipts) {
        const longer = `${receipt.slice(0, -1)},"${name}":{"amount":1}}`;
        for (const body of [longer, `{"receipt":${longer}}`]) {
          expect((await service.post(ONE, body)).json).toMatchObject({ valid: false, integrity: false });
        }
        const batch = await service.post(MANY, `{"receipts":[${longer}]}`);
        expect(batch.json.results).toMatchObject([{ valid: false }]);
      }
    },
  );

  it.each(['anchor_ref', 'tier', 'anchor'])('the unsigned member %s changes nothing', async (name) => {
    for (const receipt of receipts) {
      const longer = `${receipt.slice(0, -1)},"${name}":"urn:x"}`;
      expect((await service.post(ONE, longer)).json).toMatchObject({ valid: true });
    }
  });

  it('judges a batch in its order, the bad among the good', async () => {
    const [free = '', nano = '', standard = '', pq = ''] = receipts;
    const body = `{"receipts":[${pq},{"receipt":${free}},3,{},${nano.replace('"ok":true', '"ok":false')},${standard}]}`;
    const { status, json } = await service.post(MANY, body);
    expect(status).toBe(200);
    const results = json.results as { receipt_id: string | null; valid: boolean; family: string | null }[];
    expect(results.map(({ valid }) => valid)).toEqual([true, true, false, false, false, true]);
    expect(results.map(({ family }) => family)).toEqual([
      'profile',
      'envelope',
      null,
      null,
      'profile',
      'profile',
    ]);
    expect(results[1]?.receipt_id).toBe((JSON.parse(free) as JsonObject).receipt_id);
  });

  it('takes 500 in a batch and refuses 501', async () => {
    const batch = (size: number) => `{"receipts":[${Array(size).fill(receipts[1]).join()}]}`;
    const { json } = await service.post(MANY, batch(500));
    expect((json.results as { valid: boolean }[]).filter(({ valid }) => valid)).toHaveLength(500);
    expectProblem(await service.post(MANY, batch(501)), 'too_many_receipts', 'receipts');
    expect((await service.post(MANY, { receipts: [] })).json).toEqual({ results: [] });
  });

  it.each([{}, { v: 'svc-receipt-v2' }, { receipt: {} }, { receipt_profile: 'standard' }])(
    '%j is no receipt',
    async (body) => {
      expectProblem(await service.post(ONE, body), 'not_a_receipt');
      expectProblem(await service.post(MANY, body), 'not_a_receipt');
    },
  );

  it('calls an anchor false that is none, whatever else holds', async () => {
    for (const anchor of [{}, 7, 'urn:x', []]) {
      const body = { receipt: JSON.parse(receipts[0] ?? ''), anchor };
      const { json } = await service.post(ONE, body);
      expect(json).toMatchObject({ valid: false, integrity: true });
      const failed = (json.checks as { name: string; ok: boolean | null }[]).filter(({ ok }) => ok === false);
      expect(failed.map(({ name }) => name)).toEqual(['anchor']);
      const batch = await service.post(MANY, { receipts: [body] });
      expect(batch.json.results).toMatchObject([{ valid: false, integrity: true }]);
    }
  });

  it('refuses a receipt from the future, by more than five minutes', async () => {
    const ahead = await startTestService({ clock: testClock(service.clock() + 301_000) });
    const { text } = await ahead.post('/v1/receipt/free', { input: 'x', purpose: 'p' });
    await ahead.close();
    expect((await service.post(ONE, text)).json).toMatchObject({ valid: false, integrity: true });
  });

  it('does not trust another service of the same name', async () => {
    const other = await startTestService();
    const { text } = await other.post('/v1/receipt/emit', { input: 'x' });
    await other.close();
    expect((await service.post(ONE, text)).json).toMatchObject({
      valid: false,
      integrity: true,
      issuer: { trusted: false, status: 'contradicted' },
    });
  });
});
