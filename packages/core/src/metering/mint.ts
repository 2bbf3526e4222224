import type { Signer } from '../ed25519/signer.ts';
import { toBase64url } from '../encoding/base64url.ts';
import { TallyError } from '../errors.ts';
import { sha256Hex } from '../hash.ts';
import { canonicalBytes, canonicalize } from '../json/canonical.ts';
import { copyJson } from '../json/copy.ts';
import type { JsonObject, JsonValue } from '../json/types.ts';
import { secondsOf } from '../time.ts';
import { type CheckedBill, checkBill } from './bill.ts';
import {
  BOUNDARY,
  coverageClass,
  coverageRatio,
  meteringId,
  meteringReceiptId,
  verdictOf,
} from './derive.ts';
import { type EvidenceSummary, EvidenceTally } from './evidence.ts';
import { DERIVED, DERIVED_METERED, METERING_SCHEMA, METERING_TYPE, type SignedBody } from './shape.ts';

/**
 * Mints a metering receipt: everything that follows from bill and evidence is derived here (specification 2.6).
 * @param bill a `MeteringBill`; it may also hold derived members, which are compared
 * @param evidence the leaves in order, or what an `EvidenceTally` for this many billed units made of them
 * @param options.now Unix milliseconds
 * @returns the JCS text of the receipt
 * @throws what `checkBill` and `EvidenceTally.add` do; metering_derived_mismatch with the member in `field`
 */
export async function mintMetering(
  bill: unknown,
  evidence: EvidenceSummary | Iterable<JsonValue>,
  options: { readonly now: number },
  signer: Signer,
): Promise<string> {
  const checked = checkBill(bill, options);
  const summary = Symbol.iterator in evidence ? summaryOf(evidence, checked.billed_unit_count) : evidence;
  const body = signedBody(checked, summary);
  requireAgreement(checked, body);
  const message = canonicalBytes(body);
  const digest = sha256Hex(message);
  const ts = secondsOf(body.compiled_at);
  return canonicalize({
    receipt_id: meteringReceiptId(ts, digest),
    payload_sha256: digest,
    sig_b64u: toBase64url(await signer.sign(message)),
    key_id: signer.keyId,
    algorithm: 'Ed25519',
    ts,
    signed_body: body,
  });
}

function summaryOf(leaves: Iterable<JsonValue>, billed: number): EvidenceSummary {
  const tally = new EvidenceTally(billed);
  for (const leaf of leaves) tally.add(copyJson(leaf));
  return tally.summary();
}

/** The signed body (specification 2.2), with every derived member computed by the rules of 2.6. */
function signedBody(bill: CheckedBill, { billed, backed, digest }: EvidenceSummary): SignedBody {
  if (billed !== bill.billed_unit_count || backed > billed) {
    throw new TallyError(
      'metering_unit_range',
      `The evidence is for ${billed} billed units, the bill for ${bill.billed_unit_count}.`,
      { field: 'billed_unit_count' },
    );
  }
  const { machine_commitment, customer_commitment, salt_commitment, rate, settlement_binding } = bill;
  const { window_start, window_end, compiled_at, service_unit } = bill;
  const coverage = coverageClass(backed, billed);
  return {
    receipt_type: METERING_TYPE,
    schema: METERING_SCHEMA,
    metering_id: meteringId({ ...bill, receipt_set_digest: digest }),
    machine_commitment,
    customer_commitment,
    window_start,
    window_end,
    compiled_at,
    service_unit,
    metered: {
      billed_unit_count: billed,
      evidence_backed_unit_count: backed,
      unbacked_unit_count: billed - backed,
      receipt_set_digest: digest,
    },
    evidence_coverage_ratio: coverageRatio(backed, billed),
    coverage_class: coverage,
    rate,
    amount_minor: billed * rate.unit_rate_minor,
    evidence_backed_amount_minor: backed * rate.unit_rate_minor,
    ...(settlement_binding === undefined ? {} : { settlement_binding }),
    verdict: verdictOf(coverage),
    salt_commitment,
    boundary: BOUNDARY,
  };
}

/** Checks that the derived members that the biller states are those that were derived. @throws metering_derived_mismatch */
function requireAgreement(bill: CheckedBill, body: SignedBody): void {
  compare(bill, DERIVED, body, '');
  compare(bill, DERIVED_METERED, body.metered, '');
  compare(bill.metered ?? {}, Object.keys(body.metered), body.metered, 'metered.');
}

function compare(claimed: JsonObject, names: readonly string[], derived: JsonObject, prefix: string): void {
  for (const name of names) {
    if (!Object.hasOwn(claimed, name) || claimed[name] === derived[name]) continue;
    const field = prefix + name;
    throw new TallyError(
      'metering_derived_mismatch',
      `${field}: ${canonicalize(derived[name] ?? null)} follows from the bill and its evidence. Leave the field out, or correct the bill.`,
      { field },
    );
  }
}
