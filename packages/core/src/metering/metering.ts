import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonValue } from '../json/types.ts';
import { type Check, check, type Family, failed, passed, unchecked } from '../receipts/family.ts';
import { isObject } from '../receipts/shape.ts';
import { compareInstants, parseTimestamp } from '../time.ts';
import { coverageClass, coverageRatio, meteringId, meteringReceiptId, verdictOf } from './derive.ts';
import { EvidenceTally } from './evidence.ts';
import { METERING_TYPE, type MeteringReceipt, meteringShape, type SignedBody } from './shape.ts';

export const metering: Family = {
  name: 'metering',
  recognises: (document) =>
    isObject(document.signed_body) && document.signed_body.receipt_type === METERING_TYPE,
  shape: (document) => meteringShape(document, ''),
  claims(document) {
    const receipt = document as MeteringReceipt;
    return {
      receiptId: receipt.receipt_id,
      profile: METERING_TYPE,
      keyId: receipt.key_id,
      issuerPublicKey: null,
      issuerDid: null,
      issuerVerified: null,
      issuedAt: receipt.ts,
      signature: receipt.sig_b64u,
    };
  },
  signed: (document) => (document as MeteringReceipt).signed_body,
  signatureMembers: ({ signed_body: _body, ...rest }) => rest,
  anchored: (document) => document,
  counterSignatures: () => [],
  *rules(document, evidence) {
    const receipt = document as MeteringReceipt;
    yield* topLevelRules(receipt);
    yield* billRules(receipt.signed_body);
    yield evidenceRule(receipt.signed_body, evidence);
  },
};

/** Every top-level member follows from the signed body, though no signature covers it. */
function* topLevelRules({ signed_body: body, ...top }: MeteringReceipt): Generator<Check> {
  const digest = sha256Hex(canonicalBytes(body));
  yield matches('payload_sha256', top.payload_sha256, digest);
  yield matches('ts', top.ts, parseTimestamp(body.compiled_at)?.seconds);
  yield matches('receipt_id_derived', top.receipt_id, meteringReceiptId(top.ts, digest));
}

/** Specification 2.6, rules 2 to 7. */
function* billRules(body: SignedBody): Generator<Check> {
  const { billed_unit_count: billed, evidence_backed_unit_count: backed } = body.metered;
  yield matches('unbacked_unit_count', body.metered.unbacked_unit_count, billed - backed);
  yield matches('evidence_coverage_ratio', body.evidence_coverage_ratio, coverageRatio(backed, billed));
  const coverage = coverageClass(backed, billed);
  yield matches('coverage_class', body.coverage_class, coverage);
  yield matches('verdict', body.verdict, verdictOf(coverage));
  yield matches('amount_minor', body.amount_minor, billed * body.rate.unit_rate_minor);
  yield matches(
    'evidence_backed_amount_minor',
    body.evidence_backed_amount_minor,
    backed * body.rate.unit_rate_minor,
  );
  const bill = { ...body, receipt_set_digest: body.metered.receipt_set_digest };
  yield matches('metering_id', body.metering_id, meteringId(bill));
  yield check(
    'window',
    isAfter(body.window_end, body.window_start) && !isAfter(body.window_end, body.compiled_at),
    'The window ends after it starts, and the bill was compiled after it closed.',
    'The window must end after it starts, and the bill be compiled no earlier than its end.',
  );
}

function evidenceRule(body: SignedBody, evidence: Iterable<JsonValue> | undefined): Check {
  const name = 'evidence';
  if (evidence === undefined) {
    return unchecked(name, "No evidence leaves were given: the count of backed units is the issuer's word.");
  }
  const tally = new EvidenceTally(body.metered.billed_unit_count);
  try {
    for (const leaf of evidence) tally.add(copyJson(leaf));
  } catch (error) {
    if (error instanceof TallyError) return failed(name, error.message);
    throw error;
  }
  const { backed, digest } = tally.summary();
  const { evidence_backed_unit_count: claimed, receipt_set_digest: root } = body.metered;
  return check(
    name,
    backed === claimed && digest === root,
    `${backed} leaves give the signed digest and count.`,
    `The ${backed} leaves given have the digest ${digest}; the receipt signs ${claimed} and ${root}.`,
  );
}

function isAfter(a: string, b: string): boolean {
  const [left, right] = [parseTimestamp(a), parseTimestamp(b)];
  return left !== null && right !== null && compareInstants(left, right) > 0;
}

function matches(name: string, found: string | number, derived: string | number | undefined): Check {
  return found === derived
    ? passed(name, 'It follows from the signed facts.')
    : failed(name, `It is ${found}, but ${derived} follows from the signed facts.`);
}
