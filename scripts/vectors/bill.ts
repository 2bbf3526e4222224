import {
  canonicalBytes,
  concatBytes,
  type JsonObject,
  type JsonValue,
  sha256,
  sha256Hex,
  toHex,
  utf8,
} from '../../packages/core/src/index.ts';
import { commitment, SALT } from './commitments.ts';

/**
 * The derivations of spec/metering.md, written a second time and in another way than core's (BigInt, recursion),
 * so that the vectors test core against independent code.
 */

export const BOUNDARY =
  'This receipt records the machine service units metered for a stated window, the per-unit evidence behind ' +
  'them, and the fraction of the billed units that carries evidence. It does not prove the quality of the work ' +
  'or that the customer accepted it, and it does not settle payment.';

export interface Bill {
  readonly billed: number;
  readonly leaves: readonly JsonObject[];
  /** The signed count, if there are more leaves than a vector can list. */
  readonly backed?: number;
  readonly unitRate?: number;
  readonly windowStart?: string;
  readonly windowEnd?: string;
  readonly compiledAt?: string;
  readonly settlement?: 'x402_offer' | 'invoice_reference' | 'none';
}

export function leaf(unit: number): JsonObject {
  return { unit, receipt_sha256: sha256Hex(utf8(`receipt of unit ${unit}`)) };
}

/** Leaves for the units 1..count. */
export function leaves(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) => leaf(index + 1));
}

/** RFC 6962, section 2.1: the Merkle tree hash over the leaves' JCS bytes, as hex. */
function digestOf(list: readonly JsonValue[]): string {
  return toHex(treeHash(list.map(canonicalBytes)));
}

function treeHash(entries: readonly Uint8Array[]): Uint8Array {
  const [first] = entries;
  if (first === undefined) return sha256(new Uint8Array());
  if (entries.length === 1) return sha256(concatBytes(Uint8Array.of(0), first));
  let split = 1;
  while (split * 2 < entries.length) split *= 2;
  return sha256(
    concatBytes(Uint8Array.of(1), treeHash(entries.slice(0, split)), treeHash(entries.slice(split))),
  );
}

/** The signed body of a bill whose derived members are right. */
export function signedBody(bill: Bill): JsonObject {
  const { billed, leaves: evidence, unitRate = 250 } = bill;
  const backed = bill.backed ?? evidence.length;
  const identity = {
    machine_commitment: commitment('machine', 'SN-000117'),
    customer_commitment: commitment('customer', 'customer-42'),
    service_unit: 'pallet_moved',
    window_start: bill.windowStart ?? '2026-01-01T00:00:00Z',
    window_end: bill.windowEnd ?? '2026-01-15T00:00:00Z',
    receipt_set_digest: digestOf(evidence),
  };
  const { receipt_set_digest, ...facts } = identity;
  const { settlement } = bill;
  return {
    receipt_type: 'sls.metering',
    schema: 'r1.0.0',
    metering_id: `sm_${sha256Hex(canonicalBytes(identity)).slice(0, 32)}`,
    ...facts,
    compiled_at: bill.compiledAt ?? '2026-01-15T11:00:00Z',
    metered: {
      billed_unit_count: billed,
      evidence_backed_unit_count: backed,
      unbacked_unit_count: billed - backed,
      receipt_set_digest,
    },
    evidence_coverage_ratio: ratioOf(backed, billed),
    ...classOf(backed, billed),
    rate: { unit_rate_minor: unitRate, currency: 'EUR', rate_commitment: commitment('rate', 'rate-card-7') },
    amount_minor: billed * unitRate,
    evidence_backed_amount_minor: backed * unitRate,
    ...(settlement === undefined ? {} : { settlement_binding: binding(settlement) }),
    salt_commitment: sha256Hex(SALT),
    boundary: BOUNDARY,
  };
}

function binding(settlement_class: 'x402_offer' | 'invoice_reference' | 'none'): JsonObject {
  const reference = settlement_class === 'none' ? '' : 'INV-2026-0042';
  return { settlement_class, settlement_commitment: commitment('settlement', reference) };
}

/** Rounded half up to six places. */
function ratioOf(backed: number, billed: number): number {
  if (billed === 0) return 0;
  const millionths = (BigInt(backed) * 10_000_000n) / BigInt(billed);
  return Number((millionths + 5n) / 10n) / 1_000_000;
}

function classOf(backed: number, billed: number): JsonObject {
  if (backed === 0) return outcome('not', 'not');
  if (backed === billed) return outcome('fully', 'fully');
  return backed < billed - backed ? outcome('minority', 'partially') : outcome('majority', 'partially');
}

const outcome = (coverage: string, verdict: string): JsonObject => ({
  coverage_class: `${coverage}_evidence_backed`,
  verdict: `metered_units_${verdict}_evidence_backed`,
});
