import { sha256Hex } from '../hash.ts';
import { canonicalBytes } from '../json/canonical.ts';
import type { JsonObject } from '../json/types.ts';

export const SERVICE_UNITS = [
  'machine_hour',
  'task_completion',
  'pick',
  'kilometre_travelled',
  'pallet_moved',
  'inspection_pass',
] as const;

export const SETTLEMENT_CLASSES = ['x402_offer', 'invoice_reference', 'none'] as const;

export const COVERAGE_CLASSES = [
  'fully_evidence_backed',
  'majority_evidence_backed',
  'minority_evidence_backed',
  'not_evidence_backed',
] as const;
export type CoverageClass = (typeof COVERAGE_CLASSES)[number];

export const VERDICTS = [
  'metered_units_fully_evidence_backed',
  'metered_units_partially_evidence_backed',
  'metered_units_not_evidence_backed',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The statement that every metering receipt carries (specification 2.2, `boundary`). */
export const BOUNDARY =
  'This receipt records the machine service units metered for a stated window, the per-unit evidence behind ' +
  'them, and the fraction of the billed units that carries evidence. It does not prove the quality of the work ' +
  'or that the customer accepted it, and it does not settle payment.';

/**
 * backed / billed rounded half up to six decimal places, in integer arithmetic; 0 when nothing was billed
 * (specification 2.6, rule 3).
 */
export function coverageRatio(backed: number, billed: number): number {
  if (billed === 0) return 0;
  return Math.floor((2_000_000 * backed + billed) / (2 * billed)) / 1_000_000;
}

/** The coverage class follows from the unrounded quotient, so that rounding never promotes (rule 4). */
export function coverageClass(backed: number, billed: number): CoverageClass {
  if (backed === 0) return 'not_evidence_backed';
  if (backed === billed) return 'fully_evidence_backed';
  return 2 * backed >= billed ? 'majority_evidence_backed' : 'minority_evidence_backed';
}

export function verdictOf(coverage: CoverageClass): Verdict {
  if (coverage === 'fully_evidence_backed') return 'metered_units_fully_evidence_backed';
  if (coverage === 'not_evidence_backed') return 'metered_units_not_evidence_backed';
  return 'metered_units_partially_evidence_backed';
}

/** Facts by which two bills are the same bill: machine, customer, unit, window and evidence. */
export interface BillIdentity {
  readonly machine_commitment: string;
  readonly customer_commitment: string;
  readonly service_unit: string;
  readonly window_start: string;
  readonly window_end: string;
  readonly receipt_set_digest: string;
}

/** The id of a bill: `sm_` and the first 32 hex of SHA-256 over the JCS of the bill's identity. */
export function meteringId(bill: BillIdentity): string {
  const identity: JsonObject = {
    machine_commitment: bill.machine_commitment,
    customer_commitment: bill.customer_commitment,
    service_unit: bill.service_unit,
    window_start: bill.window_start,
    window_end: bill.window_end,
    receipt_set_digest: bill.receipt_set_digest,
  };
  return `sm_${sha256Hex(canonicalBytes(identity)).slice(0, 32)}`;
}

/** The id of a metering receipt: `r_sls.metering_<ts>_<first 12 hex of payload_sha256>`. */
export function meteringReceiptId(ts: number, payloadSha256: string): string {
  return `r_sls.metering_${ts}_${payloadSha256.slice(0, 12)}`;
}
