import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonValue } from '../json/types.ts';
import { type Check, check, type Family, failed, passed, unchecked } from '../receipts/family.ts';
import { isObject } from '../receipts/shape.ts';
import { compareInstants, instantOf, secondsOf } from '../time.ts';
import { coverageClass, coverageRatio, meteringId, meteringReceiptId, verdictOf } from './derive.ts';
import type { EvidenceCounts } from './evidence-classes.ts';
import { EvidenceIntake, type EvidenceVerifier } from './intake.ts';
import { METERING_TYPE, type MeteringReceipt, meteringShape, type SignedBody } from './shape.ts';

export const metering: Family<MeteringReceipt> = {
  name: 'metering',
  recognises: (document) =>
    isObject(document.signed_body) && document.signed_body.receipt_type === METERING_TYPE,
  shape: meteringShape,
  claims(document) {
    return {
      receiptId: document.receipt_id,
      profile: METERING_TYPE,
      keyId: document.key_id,
      issuerPublicKey: null,
      issuerDid: null,
      issuerVerified: null,
      issuedAt: document.ts,
      mayBeSignedLater: true,
      signature: document.sig_b64u,
    };
  },
  signed: ({ signed_body }) => signed_body,
  signatureMembers: ({ signed_body: _body, ...rest }) => rest,
  anchored: (document) => document,
  *rules(document) {
    yield* topLevelRules(document);
    yield* billRules(document.signed_body);
  },
  evidence: ({ signed_body }, items, verifier) => assessEvidence(signed_body, items, verifier),
};

/** Checks that every top-level member follows from the signed body, because no signature covers those members. */
function* topLevelRules({ signed_body: body, ...top }: MeteringReceipt): Generator<Check> {
  const digest = sha256Hex(canonicalBytes(body));
  yield matches('payload_sha256', top.payload_sha256, digest);
  yield matches('ts', top.ts, secondsOf(body.compiled_at));
  yield matches('receipt_id_derived', top.receipt_id, meteringReceiptId(top.ts, digest));
}

/** Checks the rules 2 to 7 of specification 2.6. */
function* billRules(body: SignedBody): Generator<Check> {
  const { metered, rate } = body;
  const { billed_unit_count: billed, evidence_backed_unit_count: backed } = metered;
  yield matches('unbacked_unit_count', metered.unbacked_unit_count, billed - backed);
  yield matches('evidence_coverage_ratio', body.evidence_coverage_ratio, coverageRatio(backed, billed));
  const coverage = coverageClass(backed, billed);
  yield matches('coverage_class', body.coverage_class, coverage);
  yield matches('verdict', body.verdict, verdictOf(coverage));
  yield matches('amount_minor', body.amount_minor, billed * rate.unit_rate_minor);
  yield matches(
    'evidence_backed_amount_minor',
    body.evidence_backed_amount_minor,
    backed * rate.unit_rate_minor,
  );
  const bill = { ...body, receipt_set_digest: metered.receipt_set_digest };
  yield matches('metering_id', body.metering_id, meteringId(bill));
  yield check(
    'window',
    isAfter(body.window_end, body.window_start) && !isAfter(body.window_end, body.compiled_at),
    'The window ends after it starts, and the bill was compiled after it closed.',
    'The window must end after it starts, and the bill be compiled no earlier than its end.',
  );
}

/** Number of items that are judged together, which bounds the memory that they take. */
const GROUP = 256;

async function assessEvidence(
  body: SignedBody,
  items: Iterable<JsonValue> | undefined,
  verifier: EvidenceVerifier,
): Promise<{ check: Check; counts: EvidenceCounts | null }> {
  const name = 'evidence';
  if (items === undefined) {
    const open = "No evidence leaves were given: the count of backed units is only the issuer's word.";
    return { check: unchecked(name, open), counts: null };
  }
  const { billed_unit_count } = body.metered;
  const intake = new EvidenceIntake({ ...body, billed_unit_count }, verifier);
  try {
    for (const item of items) {
      intake.add(copyJson(item));
      if (intake.waiting === GROUP) await intake.settle();
    }
    const { backed, digest, counts } = await intake.finish();
    const { evidence_backed_unit_count: claimed, receipt_set_digest: root } = body.metered;
    const found = check(
      name,
      backed === claimed && digest === root,
      `${backed} leaves give the signed digest and count: ${describeCounts(counts)}.`,
      `The ${backed} leaves given have the digest ${digest}; the receipt signs ${claimed} and ${root}.`,
    );
    return { check: found, counts };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    return { check: failed(name, error.message), counts: null };
  }
}

/** The counts in words, as part of a sentence. */
export function describeCounts({
  verified,
  logged,
  hashed,
  trusted,
  issued_in_window,
}: EvidenceCounts): string {
  const receipts = verified === 0 ? '' : ` (${trusted} trusted, ${issued_in_window} issued in the window)`;
  return `${verified} verified${receipts}, ${logged} logged, ${hashed} hashed`;
}

function isAfter(a: string, b: string): boolean {
  return compareInstants(instantOf(a), instantOf(b)) > 0;
}

function matches(name: string, found: string | number, derived: string | number): Check {
  return found === derived
    ? passed(name, 'It follows from the signed facts.')
    : failed(name, `It is ${found}, but ${derived} follows from the signed facts.`);
}
