import { checkOpening, commit, fromHex, openingKey, parseJson, saltCommitment, utf8 } from '@tallystick/core';
import { beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { type Served, serve, temporaryFolder } from '../../../e2e/process.ts';
import {
  type Client,
  commitBill,
  createClient,
  type EvidenceLeaf,
  evidenceLeaf,
  evidenceReceipt,
  type MeteringReceipt,
  type MeterParams,
  verifyReceipt,
} from '../src/index.ts';
import { answer, answeringEarly, loopback } from './loopback.ts';

const { salt, ...commitments } = commitBill({
  machine: 'SN-000117',
  customer: 'ACME-7',
  rate: 'contract 9',
  settlement: { settlementClass: 'invoice_reference', reference: 'INV-1' },
});

const HOUR = 3_600_000;
const windowEnd = new Date(Math.floor(Date.now() / HOUR) * HOUR);

const bill = (billedUnitCount: number, evidence: MeterParams['evidence']): MeterParams => ({
  ...commitments,
  windowStart: new Date(windowEnd.getTime() - HOUR),
  windowEnd,
  serviceUnit: 'pallet_moved',
  billedUnitCount,
  evidence,
  rate: { unitRateMinor: 250, currency: 'EUR', rateCommitment: commitments.rateCommitment },
});

const leaf = (unit: number): EvidenceLeaf => ({ unit, receipt_sha256: unit.toString(16).padStart(64, '0') });
const leaves = (count: number): EvidenceLeaf[] =>
  Array.from({ length: count }, (_, index) => leaf(index + 1));

async function* slowly(count: number): AsyncGenerator<EvidenceLeaf> {
  for (const one of leaves(count)) yield await Promise.resolve(one);
}

test('commitBill commits to each value, and the salt opens it', () => {
  const { machineCommitment, settlementBinding } = commitments;
  expect(commitments.saltCommitment).toBe(saltCommitment(salt));
  const subkey = openingKey(salt, 'machine');
  expect(checkOpening({ subkey, value: 'SN-000117', commitment: machineCommitment })).toBe(true);
  expect(checkOpening({ subkey, value: 'SN-000118', commitment: machineCommitment })).toBe(false);
  expect(settlementBinding?.settlementCommitment).toBe(commit(salt, 'settlement', 'INV-1'));
  const none = commitBill({
    machine: 'm',
    customer: 'c',
    rate: 'r',
    settlement: { settlementClass: 'none' },
    salt,
  });
  expect(none.settlementBinding?.settlementCommitment).toBe(commit(salt, 'settlement', ''));
  expect(commitBill({ machine: 'm', customer: 'c', rate: 'r' }).settlementBinding).toBeUndefined();
});

describe('on the wire', () => {
  const wire = {
    machine_commitment: commitments.machineCommitment,
    customer_commitment: commitments.customerCommitment,
    salt_commitment: commitments.saltCommitment,
    window_start: new Date(windowEnd.getTime() - HOUR).toISOString().replace('.000', ''),
    window_end: windowEnd.toISOString().replace('.000', ''),
    service_unit: 'pallet_moved',
    billed_unit_count: 3,
    rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: commitments.rateCommitment },
    settlement_binding: {
      settlement_class: 'invoice_reference',
      settlement_commitment: commitments.settlementBinding?.settlementCommitment,
    },
  };
  const linesOf = (body = ''): unknown[] =>
    body
      .trimEnd()
      .split('\n')
      .map((line) => parseJson(utf8(line)));

  test('an array is one JSON document; neither salt nor serial is in it', async () => {
    const service = await loopback(answer(200));
    await createClient({ baseUrl: service.url }).meter(bill(3, leaves(2)));
    const [arrived] = service.arrived;
    expect(arrived).toMatchObject({
      path: '/v1/receipt/metering',
      headers: { 'content-type': 'application/json' },
    });
    expect(linesOf(arrived?.body)).toEqual([{ ...wire, evidence: leaves(2) }]);
    expect(arrived?.body).not.toContain('SN-000117');
  });

  test.each([
    ['an async iterable', () => slowly(3)],
    ['an iterable', () => new Set(leaves(3)).values()],
    ['a function', () => () => slowly(3)],
  ])('%s is a line for each leaf', async (_, evidence) => {
    const service = await loopback(answer(200));
    await createClient({ baseUrl: service.url }).meter(bill(3, evidence()));
    const [arrived] = service.arrived;
    expect(arrived?.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'transfer-encoding': 'chunked',
    });
    expect(linesOf(arrived?.body)).toEqual([wire, ...leaves(3)]);
  });

  test.each([
    ['an array', () => leaves(6_000), 2],
    ['a function', () => () => slowly(3), 2],
    ['what can be read once only', () => slowly(3), 1],
  ])('%s is attempted as often as it can be read', async (_, evidence, attempts) => {
    const service = await loopback(answer(503, { code: 'unavailable' }), answer(200));
    const [outcome] = await Promise.allSettled([
      createClient({ baseUrl: service.url }).meter(bill(6_000, evidence())),
    ]);
    expect(outcome.status).toBe(attempts === 2 ? 'fulfilled' : 'rejected');
    expect(service.arrived).toHaveLength(attempts);
    expect(service.arrived.at(-1)?.body).toBe(service.arrived[0]?.body);
  });

  test('an error of the evidence itself comes through, and is not retried', async () => {
    const service = await loopback(answer(200));
    const broken = new Error('disk gone');
    let read = 0;
    const evidence = async function* () {
      read++;
      yield leaf(1);
      throw broken;
    };
    await expect(createClient({ baseUrl: service.url }).meter(bill(3, evidence))).rejects.toBe(broken);
    expect(read).toBe(1);
  });

  test('an answer that comes early ends the reading of the evidence', async () => {
    const baseUrl = await answeringEarly(answer(422, { code: 'metering_window', detail: 'No.' }));
    const stopped = Promise.withResolvers<void>();
    const evidence = async function* () {
      try {
        for (let unit = 1; ; unit++) yield leaf(unit);
      } finally {
        stopped.resolve();
      }
    };
    const call = createClient({ baseUrl }).meter(bill(10, evidence));
    await expect(call).rejects.toMatchObject({ code: 'metering_window', status: 422 });
    await stopped.promise;
  });

  test('an abort stops reading the evidence', async () => {
    const service = await loopback(answer(200));
    const controller = new AbortController();
    const reason = new Error('enough');
    const stopped = Promise.withResolvers<void>();
    const evidence = async function* () {
      try {
        for (let unit = 1; ; unit++) {
          if (unit === 5_000) controller.abort(reason);
          yield leaf(unit);
        }
      } finally {
        stopped.resolve();
      }
    };
    const call = createClient({ baseUrl: service.url }).meter(bill(10, evidence), {
      signal: controller.signal,
    });
    await expect(call).rejects.toBe(reason);
    await stopped.promise;
  });
});

describe('with a real service', () => {
  let service: Served;
  let client: Client;
  beforeAll(async () => {
    service = await serve({ TALLY_DATA_DIR: temporaryFolder() });
    client = createClient({ baseUrl: service.url });
  });

  test('a bill becomes a receipt that verifies with its evidence', async () => {
    const { text } = await client.mintFree({ input: 'pallet 2', purpose: 'unit' });
    const evidence = [evidenceLeaf(2, text), leaf(1)];
    const { receipt, text: bytes } = await client.meter(bill(3, evidence));
    expectTypeOf(receipt).toEqualTypeOf<MeteringReceipt>();
    expect(receipt.signed_body).toMatchObject({
      metered: { billed_unit_count: 3, evidence_backed_unit_count: 2, unbacked_unit_count: 1 },
      coverage_class: 'majority_evidence_backed',
      amount_minor: 750,
      evidence_backed_amount_minor: 500,
      settlement_binding: { settlement_class: 'invoice_reference' },
    });
    const trust = await client.fetchTrust();
    const checked = await verifyReceipt(bytes, { trust, evidence });
    expect(checked).toMatchObject({ valid: true, family: 'metering', issuer: { trusted: true } });
    expect(checked.checks.find(({ name }) => name === 'evidence')).toMatchObject({ ok: true });
    expect(await client.verify(bytes, { evidence })).toMatchObject({ valid: true });
    expect(await client.verify(bytes, { evidence: [leaf(1)] })).toMatchObject({ valid: false });
    expect((await client.getReceipt(receipt.receipt_id)).text).toBe(bytes);
  });

  test('a bill compiled before the service had its key is trusted', async () => {
    const { text } = await client.meter({ ...bill(1, [leaf(1)]), compiledAt: windowEnd });
    const verdict = await verifyReceipt(text, { trust: await client.fetchTrust() });
    expect(verdict).toMatchObject({ valid: true, issuer: { trusted: true } });
    const { detail } = verdict.checks.find(({ name }) => name === 'key_window') ?? {};
    expect(detail).toContain('signed later than compiled');
    const time = verdict.checks.find(({ name }) => name === 'issued_at');
    expect(time?.detail).toMatch(/^Compiled at /);
  });

  test('whole receipts are verified, and the evidence is counted by what stands behind it', async () => {
    const { text } = await client.mintFree({ input: 'pallet 2', purpose: 'unit' });
    const evidence = [evidenceReceipt(2, text), leaf(1)];
    const counts = { verified: 1, logged: 0, hashed: 1, trusted: 1, issued_in_window: 0 };
    const metered = await client.meter(bill(3, evidence));
    expect(metered.evidence).toEqual(counts);
    expect((await client.meter(bill(3, () => evidence))).evidence).toEqual(counts);
    const verdict = await verifyReceipt(metered.text, { trust: await client.fetchTrust(), evidence });
    expect(verdict).toMatchObject({ valid: true, evidence: counts });
    expect(await client.verify(metered.text, { evidence })).toMatchObject({ valid: true, evidence: counts });
    await expect(client.meter({ ...bill(3, evidence), evidencePolicy: 'verified' })).rejects.toMatchObject({
      code: 'metering_evidence_policy',
      field: 'line 3',
    });
    const forged = evidenceReceipt(2, text.replace('"purpose":"', '"purpose":"x'));
    await expect(client.meter(bill(3, [leaf(1), forged]))).rejects.toMatchObject({
      code: 'metering_evidence_invalid',
      field: 'line 3.receipt',
      message: expect.stringContaining('signature: ') as string,
    });
  });

  test('the same evidence has one digest, in one document or streamed', async () => {
    const digestOf = async (evidence: MeterParams['evidence']): Promise<string> =>
      (await client.meter(bill(20_000, evidence))).receipt.signed_body.metered.receipt_set_digest;
    const count = 12_000;
    const digest = await digestOf(leaves(count));
    expect(await digestOf(slowly(count))).toBe(digest);
    expect(await digestOf(() => leaves(count))).toBe(digest);
    expect(fromHex(digest)).toHaveLength(32);
    expect(await digestOf(leaves(10))).toBe(await digestOf(slowly(10)));
  });

  test('a leaf that is wrong is named, also far into the stream', async () => {
    const evidence = async function* () {
      yield* leaves(100_000);
      yield leaf(7);
    };
    await expect(client.meter(bill(100_001, evidence))).rejects.toMatchObject({
      code: 'metering_unit_twice',
      field: expect.stringContaining('100002') as string,
    });
  });

  test('a bill that is refused while its evidence still comes gives the refusal', async () => {
    const early = {
      ...bill(200_000, () => leaves(200_000)),
      compiledAt: new Date(windowEnd.getTime() - 1_000),
    };
    await expect(client.meter(early)).rejects.toMatchObject({
      code: 'metering_compiled_early',
      status: 422,
    });
  });
});
