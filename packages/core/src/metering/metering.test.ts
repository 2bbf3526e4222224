import { describe, expect, test } from 'vitest';
import { ISSUED_AT, meteringBody, NOW, sampleReceipt, signerOf } from '../../test/sample-receipts.ts';
import { toHex } from '../encoding/hex.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { CompactRange } from '../merkle/compact-range.ts';
import { leafHash } from '../merkle/hash.ts';
import { verify } from '../verify.ts';
import { EvidenceTally } from './evidence.ts';

const signer = await signerOf(1);
const leaves: JsonObject[] = [1, 2, 3, 5, 8].map((unit) => ({
  unit,
  receipt_sha256: unit.toString(16).padStart(64, 'e'),
}));
const digestOf = (evidence: readonly JsonValue[]): string => {
  const tally = new EvidenceTally(8);
  for (const leaf of evidence) tally.add(leaf);
  return tally.summary().digest;
};

const metered = {
  billed_unit_count: 8,
  evidence_backed_unit_count: 5,
  unbacked_unit_count: 3,
  receipt_set_digest: digestOf(leaves),
};

const bill = (changes: JsonObject = {}): Promise<JsonObject> =>
  sampleReceipt('metering', 'did:svc:alice', signer, { signed_body: meteringBody({ metered, ...changes }) });

/** The names of the checks that failed. */
async function failures(document: JsonObject, evidence?: Iterable<JsonValue>): Promise<string[]> {
  const { checks, valid, integrity } = await verify(document, { now: NOW, evidence });
  const names = checks.filter(({ ok }) => ok === false).map(({ name }) => name);
  expect(valid).toBe(names.length === 0);
  expect(integrity).toBe(names.length === 0);
  return names;
}

const evidenceCheck = async (evidence?: Iterable<JsonValue>) =>
  (await verify(await bill(), { now: NOW, evidence })).checks.find(({ name }) => name === 'evidence');

describe('the evidence behind a bill', () => {
  test('is not checked where none is given, and the verdict says so', async () => {
    expect(await failures(await bill())).toEqual([]);
    expect(await evidenceCheck()).toMatchObject({ ok: null });
  });

  test('is checked in the order in which it was signed, from any iterable', async () => {
    expect(await failures(await bill(), leaves)).toEqual([]);
    expect(await evidenceCheck(new Set(leaves).values())).toMatchObject({ ok: true });
  });

  test.each<[string, Iterable<JsonValue>]>([
    ['none at all', []],
    ['one too few', leaves.slice(1)],
    ['one too many', [...leaves, { unit: 4, receipt_sha256: '4'.repeat(64) }]],
    ['another order', leaves.toReversed()],
    ['another receipt', leaves.with(2, { unit: 3, receipt_sha256: '3'.repeat(64) })],
    ['another unit', leaves.with(2, { ...leaves[2], unit: 4 })],
    ['a unit beyond the bill', leaves.with(2, { ...leaves[2], unit: 9 })],
    ['the same leaf twice', [...leaves, leaves[0] ?? null]],
    ['a malformed leaf', ['leaf', ...leaves.slice(1)]],
  ])('fails the receipt when it is wrong: %s', async (_what, evidence) => {
    expect(await failures(await bill(), evidence)).toEqual(['evidence']);
  });

  test('a leaf that changes while it is read hides no unit that backs twice', async () => {
    const last = { unit: 1, receipt_sha256: 'f'.repeat(64) };
    const tree = new CompactRange();
    for (const leaf of leaves.with(4, last)) tree.append(leafHash(canonicalBytes(leaf)));
    const receipt = await bill({ metered: { ...metered, receipt_set_digest: toHex(tree.root()) } });
    for (let honest = 0; honest < 6; honest++) {
      let reads = 0;
      const changing = {
        receipt_sha256: last.receipt_sha256,
        get unit() {
          reads += 1;
          return reads <= honest ? 4 : 1;
        },
      };
      expect(await failures(receipt, [...leaves.slice(0, 4), changing])).toEqual(['evidence']);
    }
  });

  test('a source that fails is the caller’s error, not a verdict', async () => {
    function* broken(): Generator<JsonValue> {
      yield leaves[0] ?? null;
      throw new RangeError('the file ended early');
    }
    await expect(verify(await bill(), { now: NOW, evidence: broken() })).rejects.toThrow(RangeError);
  });
});

describe('every derived member is derived again', () => {
  test.each<[string, JsonObject]>([
    ['unbacked_unit_count', { metered: { ...metered, unbacked_unit_count: 2 } }],
    ['evidence_coverage_ratio', { evidence_coverage_ratio: 0.625001 }],
    ['coverage_class', { coverage_class: 'fully_evidence_backed' }],
    ['verdict', { verdict: 'metered_units_fully_evidence_backed' }],
    ['amount_minor', { amount_minor: 2001 }],
    ['evidence_backed_amount_minor', { evidence_backed_amount_minor: 1251 }],
    ['metering_id', { metering_id: `sm_${'0'.repeat(32)}` }],
    ['window', { window_start: '2026-06-01T10:00:00.500Z' }],
    ['window', { window_start: '2026-06-01T10:00:00.500000001Z' }],
    ['window', { window_end: '2026-06-01T11:00:00.000000001Z' }],
  ])('a signed lie about %s fails', async (name, lie) => {
    expect(await failures(await bill(lie))).toEqual([name]);
  });

  test('a window that ends when the bill is compiled is closed', async () => {
    expect(await failures(await bill({ window_end: ISSUED_AT }))).toEqual([]);
  });

  test('more backed than billed fails', async () => {
    const more = { ...metered, evidence_backed_unit_count: 9, unbacked_unit_count: 0 };
    const changes = { metered: more, evidence_coverage_ratio: 1, evidence_backed_amount_minor: 2250 };
    expect(await failures(await bill(changes))).toContain('unbacked_unit_count');
  });

  test('the largest bill is exact', async () => {
    const units = 10_000_000;
    const receipt = await bill({
      metered: {
        ...metered,
        billed_unit_count: units,
        evidence_backed_unit_count: units - 1,
        unbacked_unit_count: 1,
      },
      rate: { unit_rate_minor: 100_000_000, currency: 'EUR', rate_commitment: '4'.repeat(64) },
      evidence_coverage_ratio: 1,
      amount_minor: 1_000_000_000_000_000,
      evidence_backed_amount_minor: 999_999_900_000_000,
    });
    expect(await failures(receipt)).toEqual([]);
  });
});

describe('the top level follows from the signed body', () => {
  test.each<[JsonObject, string[]]>([
    [{ payload_sha256: 'a'.repeat(64) }, ['payload_sha256']],
    [{ ts: 1_780_311_601 }, ['ts', 'receipt_id_derived']],
    [{ receipt_id: 'r_sls.metering_1780311600_000000000000' }, ['receipt_id_derived']],
  ])('%j fails', async (change, names) => {
    expect(await failures({ ...(await bill()), ...change })).toEqual(names);
  });

  test.each<[string, JsonObject]>([
    ['algorithm', { algorithm: 'EdDSA' }],
    ['anchor_ref', { anchor_ref: 'urn:anchor:x' }],
    ['tier', { tier: 'pro' }],
    ['signed_body.note', { signed_body: meteringBody({ metered, note: 'x' }) }],
    ['signed_body.metered.note', { signed_body: meteringBody({ metered: { ...metered, note: 'x' } }) }],
    ['signed_body.boundary', { signed_body: meteringBody({ metered, boundary: 'It proves everything.' }) }],
  ])('no other member or constant: %s', async (field, change) => {
    const document = { ...(await bill()), ...change };
    const { checks, valid } = await verify(document, { now: NOW });
    expect(valid).toBe(false);
    expect(checks[0]).toMatchObject({
      name: 'format',
      ok: false,
      detail: expect.stringContaining(field) as string,
    });
  });

  test('a bill without a settlement binding is whole', async () => {
    const { settlement_binding: _binding, ...body } = meteringBody({ metered });
    expect(
      await failures(await sampleReceipt('metering', 'did:svc:alice', signer, { signed_body: body })),
    ).toEqual([]);
  });
});
