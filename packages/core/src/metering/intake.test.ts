import { describe, expect, test } from 'vitest';
import { anchorOf, authority } from '../../../../scripts/vectors/anchor-base.ts';
import { KINDS, keyOf, NOW, recordOf, sampleReceipt, signerOf } from '../../test/sample-receipts.ts';
import { utf8 } from '../encoding/bytes.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { anchoredHash } from '../receipts/countersign.ts';
import { trustOf } from '../trust/issuer.ts';
import { evidenceVerifier, verify } from '../verify.ts';
import { commit, newSalt, saltCommitment } from './commitments.ts';
import type { EvidenceClass } from './evidence-classes.ts';
import { EvidenceIntake } from './intake.ts';
import type { EvidenceLeaf } from './leaf.ts';
import { mintMetering } from './mint.ts';

const alice = await signerOf(1);
const stranger = await signerOf(9);
const did = 'did:svc:alice';
const trust = trustOf([recordOf(did, keyOf(alice))], [authority]);
/** The samples are issued at 11:00. */
const window = {
  billed_unit_count: 10,
  window_start: '2026-06-01T11:00:00.5Z',
  window_end: '2026-06-01T11:30:00Z',
};
const bare = (unit: number): EvidenceLeaf => ({
  unit,
  receipt_sha256: `b${unit.toString(16).padStart(63, '0')}`,
});
const hashOf = ({ receipt_sha256 }: EvidenceLeaf): string => receipt_sha256;
const receipt = await sampleReceipt('standard', did, alice);
const forged = { ...receipt, purpose: 'another' };

interface Options {
  readonly policy?: EvidenceClass;
  /** Hex hashes that are in the log; no log can be asked when absent. */
  readonly log?: readonly string[];
  readonly bill?: typeof window;
}

function intakeOf({ policy, log, bill = window }: Options = {}): EvidenceIntake {
  const areLogged =
    log &&
    (async (hashes: readonly Uint8Array[]) =>
      hashes.map((hash) => log.includes(Buffer.from(hash).toString('hex'))));
  return new EvidenceIntake(bill, evidenceVerifier({ now: NOW, trust, evidenceSources: { areLogged } }), {
    policy,
  });
}

async function countsOf(items: readonly JsonValue[], options?: Options) {
  const intake = intakeOf(options);
  for (const item of items) intake.add(item);
  return (await intake.finish()).counts;
}

const none = { verified: 0, logged: 0, hashed: 0, trusted: 0, issued_in_window: 0 };
const refused = (code: string, field: string, message: RegExp) =>
  expect.objectContaining({ code, field, message: expect.stringMatching(message) as string }) as Error;

describe('a whole receipt', () => {
  test.each(KINDS)('of the family %s is verified, and its leaf is its anchored hash', async (kind) => {
    const whole = await sampleReceipt(kind, did, alice);
    const [a, b] = [intakeOf(), intakeOf()];
    a.add({ unit: 1, receipt: whole });
    b.add({ unit: 1, receipt_sha256: anchoredHash(whole) });
    const [given, hashed] = await Promise.all([a.finish(), b.finish()]);
    expect(given.digest).toBe(hashed.digest);
    expect(given.counts).toEqual({ ...none, verified: 1, trusted: 1, issued_in_window: 1 });
    expect(hashed.counts).toEqual({ ...none, hashed: 1 });
  });

  test.each(KINDS)('of the family %s that was changed is refused under each policy', async (kind) => {
    const whole = await sampleReceipt(kind, did, alice);
    const other = await sampleReceipt(kind, did, stranger);
    const broken: JsonObject =
      kind === 'metering'
        ? { ...whole, sig_b64u: other.sig_b64u ?? null }
        : kind === 'envelope'
          ? { ...whole, signatures: other.signatures ?? null }
          : kind === 'issue'
            ? { ...whole, sig_b64u: other.sig_b64u ?? null }
            : {
                ...whole,
                receipt: {
                  ...(whole.receipt as JsonObject),
                  sig_b64u: (other.receipt as JsonObject).sig_b64u ?? null,
                },
              };
    for (const policy of ['verified', 'logged', 'hashed'] as const) {
      await expect(countsOf([{ unit: 1, receipt: broken }], { policy })).rejects.toThrow(
        refused(
          'metering_evidence_invalid',
          'evidence[0].receipt',
          /^evidence\[0\]\.receipt is not valid: signature: /,
        ),
      );
    }
  });

  test('of a stranger is verified, and not trusted', async () => {
    const theirs = await sampleReceipt('standard', stranger.keyId, stranger, { issuer_verified: false });
    expect(await countsOf([{ unit: 1, receipt: theirs }])).toEqual({
      ...none,
      verified: 1,
      issued_in_window: 1,
    });
  });

  test('that contradicts its issuer is refused', async () => {
    const contradicting = await sampleReceipt('standard', did, stranger);
    await expect(countsOf([{ unit: 1, receipt: contradicting }])).rejects.toThrow(
      refused('metering_evidence_invalid', 'evidence[0].receipt', /issuer: /),
    );
  });

  test.each([
    ['from its second on', '2026-06-01T11:00:00Z', '2026-06-01T12:00:00Z', 1],
    ['before it', '2026-06-01T11:00:01Z', '2026-06-01T12:00:00Z', 0],
    ['up to its end', '2026-06-01T10:00:00Z', '2026-06-01T11:00:00.000000001Z', 1],
    ['at its end', '2026-06-01T10:00:00Z', '2026-06-01T11:00:00Z', 0],
  ])('issued %s is in the window or not', async (_, window_start, window_end, expected) => {
    const bill = { ...window, window_start, window_end };
    const counts = await countsOf([{ unit: 1, receipt }], { bill });
    expect(counts).toMatchObject({ verified: 1, issued_in_window: expected });
  });

  test.each<[string, JsonValue, string, string]>([
    ['no receipt', { unit: 1, receipt: { a: 1 } }, 'metering_evidence_invalid', 'evidence[0].receipt'],
    [
      'a receipt of no form',
      { unit: 1, receipt: { ...receipt, key_id: 1 } },
      'metering_evidence_invalid',
      'evidence[0].receipt',
    ],
    ['a text', { unit: 1, receipt: 'x' }, 'invalid_field', 'evidence[0].receipt'],
    [
      'both forms',
      { unit: 1, receipt, receipt_sha256: 'e'.repeat(64) },
      'invalid_field',
      'evidence[0].receipt_sha256',
    ],
    ['another member', { unit: 1, receipt, note: 1 }, 'invalid_field', 'evidence[0].note'],
    ['no unit', { receipt }, 'invalid_field', 'evidence[0].unit'],
    ['a unit beyond the bill', { unit: 11, receipt }, 'metering_unit_range', 'evidence[0].unit'],
    [
      'an anchor that is none',
      { ...bare(1), anchor: { a: 1 } },
      'metering_evidence_invalid',
      'evidence[0].anchor',
    ],
  ])('%s is refused', async (_, item, code, field) => {
    await expect(countsOf([item])).rejects.toThrow(refused(code, field, /./));
  });

  test('backs one unit only, however it is given', async () => {
    const twice = [
      { unit: 1, receipt },
      { unit: 2, receipt_sha256: anchoredHash(receipt) },
    ];
    await expect(countsOf(twice)).rejects.toThrow(
      refused('metering_receipt_twice', 'evidence[1].receipt_sha256', /./),
    );
  });
});

describe('a hash', () => {
  test('is logged where the log has it, in one question for many', async () => {
    const items = [bare(1), bare(2), { unit: 3, receipt }, bare(4)];
    const log = [hashOf(bare(2)), anchoredHash(receipt)];
    expect(await countsOf(items, { log })).toEqual({
      verified: 1,
      logged: 1,
      hashed: 2,
      trusted: 1,
      issued_in_window: 1,
    });
  });

  test('is logged where an anchor of it is given that a log of the trust has signed', async () => {
    const { anchor } = await anchorOf(receipt, { at: '2026-06-01T12:00:00Z' });
    const item = { unit: 1, receipt_sha256: anchoredHash(receipt), anchor };
    expect(await countsOf([item], { policy: 'logged' })).toEqual({ ...none, logged: 1 });
    const other = { ...item, receipt_sha256: 'f'.repeat(64) };
    await expect(countsOf([other])).rejects.toThrow(
      refused('metering_evidence_invalid', 'evidence[0].anchor', /anchor: The path/),
    );
    const untrusting = new EvidenceIntake(window, evidenceVerifier({ now: NOW }));
    untrusting.add(item);
    expect((await untrusting.finish()).counts).toEqual({ ...none, hashed: 1 });
  });

  test.each<[EvidenceClass, RegExp]>([
    ['verified', /is a hash without its receipt/],
    ['logged', /is a hash that is in no known log/],
  ])('says under the policy %s what is lacking', async (policy, lack) => {
    const log = policy === 'verified' ? [hashOf(bare(1))] : [];
    await expect(countsOf([bare(1)], { policy, log })).rejects.toThrow(
      refused('metering_evidence_policy', 'evidence[0]', lack),
    );
  });

  test('is refused with an anchor that contradicts it, also where the log has the hash', async () => {
    const { anchor } = await anchorOf(receipt, { at: '2026-06-01T12:00:00Z' });
    await expect(countsOf([{ ...bare(1), anchor }], { log: [hashOf(bare(1))] })).rejects.toThrow(
      refused('metering_evidence_invalid', 'evidence[0].anchor', /anchor: The path/),
    );
  });

  test.each<[EvidenceClass, Options, readonly JsonValue[], number]>([
    ['verified', {}, [{ unit: 1, receipt }, bare(2)], 1],
    ['verified', { log: [hashOf(bare(2))] }, [{ unit: 1, receipt }, bare(2)], 1],
    ['logged', {}, [bare(1)], 0],
    ['logged', { log: [hashOf(bare(1))] }, [bare(1), bare(2)], 1],
  ])('is refused under the policy %s where it is less (%#)', async (policy, options, items, index) => {
    await expect(countsOf(items, { ...options, policy })).rejects.toThrow(
      refused('metering_evidence_policy', `evidence[${index}]`, new RegExp(`“${policy}”`)),
    );
  });

  test('is read from JCS as from any JSON', async () => {
    const intake = intakeOf({ log: [hashOf(bare(2))] });
    intake.addJson(canonicalBytes(bare(1)), 'line 1');
    intake.addJson(utf8(` {"unit": 2, "receipt_sha256": "${hashOf(bare(2))}"}`), 'line 2');
    intake.addJson(canonicalBytes({ unit: 3, receipt }), 'line 3');
    expect((await intake.finish()).counts).toMatchObject({ verified: 1, logged: 1, hashed: 1 });
  });
});

test('of two refusals the earlier item’s is told, and what is settled is not held', async () => {
  const intake = intakeOf({ policy: 'logged', log: [] });
  intake.add({ unit: 1, receipt });
  await intake.settle();
  expect(intake.waiting).toBe(0);
  intake.add(bare(2), 'line 2');
  intake.add({ unit: 3, receipt: forged }, 'line 3');
  await expect(intake.settle()).rejects.toThrow(refused('metering_evidence_policy', 'line 2', /./));
});

describe('verifying a bill with its evidence', () => {
  const salt = newSalt();
  const bill = {
    machine_commitment: commit(salt, 'machine', 'SN'),
    customer_commitment: commit(salt, 'customer', 'C'),
    salt_commitment: saltCommitment(salt),
    ...window,
    service_unit: 'pick',
    rate: { unit_rate_minor: 1, currency: 'EUR', rate_commitment: commit(salt, 'rate', 'R') },
  };

  test('counts the leaves by class, and names the receipt that does not hold', async () => {
    const leaves = [{ unit: 1, receipt_sha256: anchoredHash(receipt) }, bare(2)];
    const metered = JSON.parse(await mintMetering(bill, leaves, { now: NOW }, alice)) as JsonObject;
    const judged = (evidence: JsonValue[]) => verify(metered, { now: NOW, trust, evidence });
    const whole = await judged([{ unit: 1, receipt }, bare(2)]);
    expect(whole).toMatchObject({ valid: true, evidence: { verified: 1, logged: 0, hashed: 1, trusted: 1 } });
    expect(whole.checks).toContainEqual({
      name: 'evidence',
      ok: true,
      detail:
        '2 leaves give the signed digest and count: 1 verified (1 trusted, 1 issued in the window), 0 logged, 1 hashed.',
    });
    const broken = await judged([{ unit: 1, receipt: forged }, bare(2)]);
    expect(broken).toMatchObject({ valid: false, integrity: false });
    expect(broken.evidence).toBeUndefined();
    expect(broken.checks.find(({ name }) => name === 'evidence')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('evidence[0].receipt is not valid: signature: ') as string,
    });
    expect((await judged(leaves)).evidence).toEqual({ ...none, hashed: 2 });
  });
});
