import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NOW, signAs, signerOf } from '../../test/sample-receipts.ts';
import { canonicalize } from '../json/canonical.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { verify } from '../verify.ts';
import { commit, newSalt, saltCommitment } from './commitments.ts';
import { BOUNDARY } from './derive.ts';
import { type EvidenceSummary, EvidenceTally } from './evidence.ts';
import { mintMetering } from './mint.ts';

const signer = await signerOf(1);
const salt = newSalt();
const leaf = (unit: number): JsonObject => ({ unit, receipt_sha256: unit.toString(16).padStart(64, 'e') });
const leaves = (...units: readonly number[]): JsonObject[] => units.map(leaf);

/** 7 billed; the window closed two hours before NOW, which is 2026-06-01T12:00:00Z. */
const bill: JsonObject = {
  machine_commitment: commit(salt, 'machine', 'SN-000117'),
  customer_commitment: commit(salt, 'customer', 'customer-42'),
  salt_commitment: saltCommitment(salt),
  window_start: '2026-06-01T09:00:00Z',
  window_end: '2026-06-01T10:00:00.5Z',
  service_unit: 'pallet_moved',
  billed_unit_count: 7,
  rate: { unit_rate_minor: 250, currency: 'EUR', rate_commitment: commit(salt, 'rate', 'card-7') },
};

async function mint(
  changes: JsonObject = {},
  evidence: EvidenceSummary | JsonValue[] = leaves(1, 2, 3, 4, 5),
  now = NOW,
): Promise<JsonObject & { signed_body: JsonObject & { metered: JsonObject } }> {
  const text = await mintMetering({ ...bill, ...changes }, evidence, { now }, signer);
  const receipt = JSON.parse(text) as Awaited<ReturnType<typeof mint>>;
  expect(canonicalize(receipt)).toBe(text);
  return receipt;
}

/** The names of the checks that fail. */
async function failures(receipt: JsonObject, evidence?: JsonValue[]): Promise<string[]> {
  const { checks } = await verify(receipt, { now: NOW, evidence });
  return checks.filter(({ ok }) => ok === false).map(({ name }) => name);
}

const refused = (code: string, field: string) => expect.objectContaining({ code, field }) as Error;
/** What a tally would say of the first `backed` units, without their leaves. */
const summary = (billed: number, backed: number): EvidenceSummary => ({
  billed,
  backed,
  digest: 'd'.repeat(64),
});

describe('what is minted', () => {
  test('has every member of specification 2.1 and 2.2, and verifies with its evidence', async () => {
    const receipt = await mint({ compiled_at: '2026-06-01T11:00:00.123456789Z' });
    const digest = receipt.payload_sha256 as string;
    expect(receipt).toEqual({
      receipt_id: `r_sls.metering_${NOW / 1000 - 3600}_${digest.slice(0, 12)}`,
      payload_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      sig_b64u: expect.stringMatching(/^[\w-]{86}$/) as string,
      key_id: signer.keyId,
      algorithm: 'Ed25519',
      ts: NOW / 1000 - 3600,
      signed_body: {
        receipt_type: 'sls.metering',
        schema: 'r1.0.0',
        metering_id: expect.stringMatching(/^sm_[0-9a-f]{32}$/) as string,
        ...Object.fromEntries(Object.entries(bill).filter(([name]) => name !== 'billed_unit_count')),
        compiled_at: '2026-06-01T11:00:00.123456789Z',
        metered: {
          billed_unit_count: 7,
          evidence_backed_unit_count: 5,
          unbacked_unit_count: 2,
          receipt_set_digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        },
        evidence_coverage_ratio: 0.714286,
        coverage_class: 'majority_evidence_backed',
        amount_minor: 1750,
        evidence_backed_amount_minor: 1250,
        verdict: 'metered_units_partially_evidence_backed',
        boundary: BOUNDARY,
      },
    });
    expect(await failures(receipt, leaves(1, 2, 3, 4, 5))).toEqual([]);
  });

  test('of any bill with any evidence verifies, with leaves and with their summary alike', async () => {
    const cases = fc
      .tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 100_000_000 }), fc.boolean())
      .chain(([billed, rate, bound]) =>
        fc.tuple(
          fc.constant({ billed, rate, bound }),
          fc.shuffledSubarray(Array.from({ length: billed }, (_, index) => index + 1)),
        ),
      );
    await fc.assert(
      fc.asyncProperty(cases, async ([{ billed, rate, bound }, units]) => {
        const changes: JsonObject = {
          billed_unit_count: billed,
          rate: { ...(bill.rate as JsonObject), unit_rate_minor: rate },
          ...(bound
            ? {
                settlement_binding: {
                  settlement_class: 'none',
                  settlement_commitment: commit(salt, 'settlement', ''),
                },
              }
            : {}),
        };
        const receipt = await mint(changes, leaves(...units));
        expect(await failures(receipt, leaves(...units))).toEqual([]);
        const tally = new EvidenceTally(billed);
        for (const unit of units) tally.add(leaf(unit));
        expect(await mint(changes, tally.summary())).toEqual(receipt);
      }),
      { numRuns: 60 },
    );
  });

  test('is the same bill by its metering_id, whatever the price and the time of compiling', async () => {
    const [first, later, other] = await Promise.all([
      mint(),
      mint({
        compiled_at: '2026-06-01T10:30:00Z',
        rate: { ...(bill.rate as JsonObject), unit_rate_minor: 1 },
      }),
      mint({}, leaves(1, 2, 3, 5, 4)),
    ]);
    expect(later.signed_body.metering_id).toBe(first.signed_body.metering_id);
    expect(later.receipt_id).not.toBe(first.receipt_id);
    expect(other.signed_body.metering_id).not.toBe(first.signed_body.metering_id);
  });
});

describe('rule 1: count and digest are of the leaves', () => {
  test.each<[string, JsonObject, string]>([
    ['more than there are leaves', { evidence_backed_unit_count: 6 }, 'evidence_backed_unit_count'],
    ['fewer', { metered: { evidence_backed_unit_count: 4 } }, 'metered.evidence_backed_unit_count'],
    ['another digest', { receipt_set_digest: '0'.repeat(64) }, 'receipt_set_digest'],
    ['another digest', { metered: { receipt_set_digest: '0'.repeat(64) } }, 'metered.receipt_set_digest'],
  ])('claiming %s is refused', async (_what, claim, field) => {
    await expect(mint(claim)).rejects.toThrow(refused('metering_derived_mismatch', field));
  });

  test.each<[string, JsonValue[], string, string]>([
    ['a unit twice', [leaf(1), { ...leaf(2), unit: 1 }], 'metering_unit_twice', 'evidence[1].unit'],
    [
      'a receipt for two units',
      [leaf(1), { ...leaf(1), unit: 2 }],
      'metering_receipt_twice',
      'evidence[1].receipt_sha256',
    ],
    ['a unit beyond the bill', leaves(1, 8), 'metering_unit_range', 'evidence[1].unit'],
    ['unit 0', leaves(0), 'metering_unit_range', 'evidence[0].unit'],
    ['more leaves than units', leaves(1, 2, 3, 4, 5, 6, 7, 7), 'metering_unit_range', 'evidence[7]'],
    ['a leaf with more members', [leaf(1), { ...leaf(2), note: 'x' }], 'invalid_field', 'evidence[1].note'],
    ['a leaf that is none', [leaf(1), 'leaf'], 'invalid_field', 'evidence[1]'],
  ])('%s is refused', async (_what, evidence, code, field) => {
    await expect(mint({}, evidence)).rejects.toThrow(refused(code, field));
  });

  test('evidence in another order than was signed fails', async () => {
    const receipt = await mint();
    expect(await failures(receipt, leaves(2, 1, 3, 4, 5))).toEqual(['evidence']);
  });

  test('a summary of another bill’s evidence is refused', async () => {
    await expect(mint({}, summary(8, 5))).rejects.toThrow(
      refused('metering_unit_range', 'billed_unit_count'),
    );
    await expect(mint({}, summary(7, 8))).rejects.toThrow(
      refused('metering_unit_range', 'billed_unit_count'),
    );
  });

  test('a leaf whose members change while they are read is read once', async () => {
    let reads = 0;
    const changing = {
      receipt_sha256: 'f'.repeat(64),
      get unit() {
        reads += 1;
        return reads === 1 ? 6 : 1;
      },
    };
    const receipt = await mint({}, [...leaves(1, 2), changing]);
    expect(await failures(receipt, [...leaves(1, 2), { unit: 6, receipt_sha256: 'f'.repeat(64) }])).toEqual(
      [],
    );
  });
});

describe('rules 2 to 6: what a bill claims must be what follows', () => {
  test.each<[string, JsonValue]>([
    ['unbacked_unit_count', 1],
    ['unbacked_unit_count', '2'],
    ['evidence_coverage_ratio', 0.714285],
    ['evidence_coverage_ratio', 0.714287],
    ['evidence_coverage_ratio', 5 / 7],
    ['coverage_class', 'fully_evidence_backed'],
    ['coverage_class', 'minority_evidence_backed'],
    ['verdict', 'metered_units_fully_evidence_backed'],
    ['amount_minor', 1751],
    ['amount_minor', 1749],
    ['evidence_backed_amount_minor', 1251],
    ['metering_id', `sm_${'0'.repeat(32)}`],
    ['receipt_type', 'sls.metered'],
    ['schema', 'r1.0.1'],
    ['boundary', BOUNDARY.replace('does not prove', 'does now prove')],
  ])('%s %j is refused, also when it is signed by somebody else', async (name, claimed) => {
    await expect(mint({ [name]: claimed })).rejects.toThrow(refused('metering_derived_mismatch', name));
    const receipt = await mint({ compiled_at: '2026-06-01T11:00:00Z' });
    const { signed_body: body } = receipt;
    const nested = Object.hasOwn(body.metered, name);
    const forged = nested
      ? { ...body, metered: { ...body.metered, [name]: claimed } }
      : { ...body, [name]: claimed };
    const signed = await signAs('metering', { ...receipt, signed_body: forged }, signer);
    expect(await verify(signed, { now: NOW })).toMatchObject({ valid: false, integrity: false });
  });

  test('a whole signed body may be sent back: all of it agrees', async () => {
    const { signed_body: body } = await mint({ compiled_at: '2026-06-01T11:00:00Z' });
    const again = await mint({ ...body, ...body.metered });
    expect(again.signed_body).toEqual(body);
    await expect(mint({ ...body, metered: { ...body.metered, billed_unit_count: 8 } })).rejects.toThrow(
      refused('metering_derived_mismatch', 'metered.billed_unit_count'),
    );
  });

  test('nothing billed is a ratio of 0 and backs nothing', async () => {
    const { signed_body: body } = await mint({ billed_unit_count: 0 }, []);
    expect(body).toMatchObject({
      evidence_coverage_ratio: 0,
      coverage_class: 'not_evidence_backed',
      verdict: 'metered_units_not_evidence_backed',
      amount_minor: 0,
      evidence_backed_amount_minor: 0,
    });
    await expect(mint({ billed_unit_count: 0 }, leaves(1))).rejects.toThrow(
      refused('metering_unit_range', 'evidence[0]'),
    );
  });

  test('9,999,999 of 10,000,000 print as 1 and are no more than a majority; the amounts are exact', async () => {
    const largest = {
      billed_unit_count: 10_000_000,
      rate: { ...(bill.rate as JsonObject), unit_rate_minor: 100_000_000 },
    };
    const receipt = await mint(largest, summary(10_000_000, 9_999_999));
    expect(receipt.signed_body).toMatchObject({
      metered: { unbacked_unit_count: 1 },
      evidence_coverage_ratio: 1,
      coverage_class: 'majority_evidence_backed',
      verdict: 'metered_units_partially_evidence_backed',
      amount_minor: 1_000_000_000_000_000,
      evidence_backed_amount_minor: 999_999_900_000_000,
    });
    expect(await failures(receipt)).toEqual([]);
    const whole = await mint(largest, summary(10_000_000, 10_000_000));
    expect(whole.signed_body).toMatchObject({
      coverage_class: 'fully_evidence_backed',
      evidence_backed_amount_minor: 1_000_000_000_000_000,
    });
    expect(canonicalize(whole)).toContain('"amount_minor":1000000000000000,');
  });
});

describe('rule 7: times, to the nanosecond', () => {
  const at = (compiled_at: string): JsonObject => ({ compiled_at });

  test.each<[string, JsonObject, string, string]>([
    ['a nanosecond early', at('2026-06-01T10:00:00.499999999Z'), 'metering_compiled_early', 'compiled_at'],
    ['an hour early', at('2026-06-01T09:00:00.5Z'), 'metering_compiled_early', 'compiled_at'],
    ['a nanosecond late', at('2026-06-01T12:05:00.000000001Z'), 'metering_compiled_late', 'compiled_at'],
    ['an empty window', { window_end: bill.window_start ?? null }, 'metering_window', 'window_end'],
    [
      'an empty window, written otherwise',
      { window_end: '2026-06-01T09:00:00.000Z' },
      'metering_window',
      'window_end',
    ],
    [
      'a window from end to start',
      { window_end: '2026-06-01T08:59:59.999999999Z' },
      'metering_window',
      'window_end',
    ],
    [
      'a window that has not closed',
      { window_end: '2026-06-01T12:05:00.000000001Z' },
      'metering_compiled_early',
      'compiled_at',
    ],
    ['a fraction of ten digits', at('2026-06-01T11:00:00.1234567890Z'), 'invalid_field', 'compiled_at'],
    ['a fraction of no digits', at('2026-06-01T11:00:00.Z'), 'invalid_field', 'compiled_at'],
    ['an offset', at('2026-06-01T11:00:00+00:00'), 'invalid_field', 'compiled_at'],
    ['a day that is none', { window_start: '2026-02-29T00:00:00Z' }, 'invalid_field', 'window_start'],
    [
      'a time that has no ts',
      {
        ...at('2001-09-09T01:46:39Z'),
        window_start: '1999-01-01T00:00:00Z',
        window_end: '1999-01-02T00:00:00Z',
      },
      'invalid_field',
      'compiled_at',
    ],
  ])('%s is refused', async (_what, changes, code, field) => {
    await expect(mint(changes)).rejects.toThrow(refused(code, field));
  });

  test.each([
    '2026-06-01T10:00:00.5Z',
    '2026-06-01T10:00:00.500000000Z',
    '2026-06-01T12:05:00Z',
    '2026-06-01T12:05:00.000000000Z',
  ])('%s is in time and is kept as it was written', async (compiled_at) => {
    const receipt = await mint({ compiled_at });
    expect(receipt.signed_body.compiled_at).toBe(compiled_at);
    expect(await failures(receipt)).toEqual([]);
  });

  test('without compiled_at it is now, or the end of a window that only just closed', async () => {
    expect((await mint()).signed_body.compiled_at).toBe('2026-06-01T12:00:00Z');
    for (const window_end of ['2026-06-01T12:00:00.000000001Z', '2026-06-01T12:05:00.0Z']) {
      expect((await mint({ window_end })).signed_body.compiled_at).toBe(window_end);
    }
  });
});

describe('the form of a bill', () => {
  test.each<[string, JsonObject, string]>([
    ['an unknown member', { note: 1 }, 'note'],
    ['an unknown member of rate', { rate: { ...(bill.rate as JsonObject), note: 1 } }, 'rate.note'],
    ['an unknown member of metered', { metered: { note: 1 } }, 'metered.note'],
    [
      'an unknown member of the settlement',
      { settlement_binding: { settlement_class: 'none', settlement_commitment: 'a'.repeat(64), note: 1 } },
      'settlement_binding.note',
    ],
    ['no settlement', { settlement_binding: null }, 'settlement_binding'],
    ['a serial instead of its commitment', { machine_commitment: 'SN-000117' }, 'machine_commitment'],
    ['upper-case hex', { salt_commitment: 'A'.repeat(64) }, 'salt_commitment'],
    ['another unit', { service_unit: 'hour' }, 'service_unit'],
    ['too many units', { billed_unit_count: 10_000_001 }, 'billed_unit_count'],
    ['less than no units', { billed_unit_count: -1 }, 'billed_unit_count'],
    ['half a unit', { billed_unit_count: 6.5 }, 'billed_unit_count'],
    [
      'a rate too high',
      { rate: { ...(bill.rate as JsonObject), unit_rate_minor: 100_000_001 } },
      'rate.unit_rate_minor',
    ],
    [
      'a fraction of a cent',
      { rate: { ...(bill.rate as JsonObject), unit_rate_minor: 2.5 } },
      'rate.unit_rate_minor',
    ],
    [
      'a currency in lower case',
      { rate: { ...(bill.rate as JsonObject), currency: 'eur' } },
      'rate.currency',
    ],
    [
      'a currency that never was',
      { rate: { ...(bill.rate as JsonObject), currency: 'QQQ' } },
      'rate.currency',
    ],
  ])('%s is refused', async (_what, changes, field) => {
    await expect(mint(changes, [])).rejects.toThrow(refused('invalid_field', field));
  });

  test.each(Object.keys(bill))('%s is required', async (name) => {
    const { [name]: _left, ...rest } = bill;
    await expect(mintMetering(rest, [], { now: NOW }, signer)).rejects.toThrow(
      refused('invalid_field', name),
    );
  });
});
