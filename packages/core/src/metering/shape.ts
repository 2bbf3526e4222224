import type { JsonValue } from '../json/types.ts';
import {
  constant,
  hex64,
  type Infer,
  integer,
  keyId,
  numberIn,
  object,
  oneOf,
  pattern,
  type Rule,
  signature,
  timestamp,
} from '../receipts/shape.ts';
import { BOUNDARY, COVERAGE_CLASSES, SERVICE_UNITS, SETTLEMENT_CLASSES, VERDICTS } from './derive.ts';

export const METERING_TYPE = 'sls.metering';
export const METERING_SCHEMA = 'r1.0.0';

const units = integer(0, 10_000_000);
const closed = { closed: true } as const;

/** Members of the signed body that the biller states. */
const billMembers = {
  machine_commitment: hex64,
  customer_commitment: hex64,
  window_start: timestamp,
  window_end: timestamp,
  service_unit: oneOf(...SERVICE_UNITS),
  rate: object(
    {
      unit_rate_minor: integer(0, 100_000_000),
      currency: pattern(/^[A-Z]{3}$/, 'three upper-case letters'),
      rate_commitment: hex64,
    },
    closed,
  ),
  salt_commitment: hex64,
};

const settlementBinding = object(
  { settlement_class: oneOf(...SETTLEMENT_CLASSES), settlement_commitment: hex64 },
  closed,
);

/** Specification 2.1 to 2.5: no additional members anywhere. */
export const meteringShape = object(
  {
    receipt_id: pattern(/^r_sls[.]metering_[0-9]{10,}_[0-9a-f]{12}$/, 'r_sls.metering_<seconds>_<12 hex>'),
    payload_sha256: hex64,
    sig_b64u: signature,
    key_id: keyId,
    algorithm: constant('Ed25519'),
    /** Unix seconds. */
    ts: integer(1_000_000_000),
    signed_body: object(
      {
        receipt_type: constant(METERING_TYPE),
        schema: constant(METERING_SCHEMA),
        metering_id: pattern(/^sm_[0-9a-f]{16,64}$/, 'sm_ and 16 to 64 hex'),
        ...billMembers,
        compiled_at: timestamp,
        metered: object(
          {
            billed_unit_count: units,
            evidence_backed_unit_count: units,
            unbacked_unit_count: units,
            receipt_set_digest: hex64,
          },
          closed,
        ),
        evidence_coverage_ratio: numberIn(0, 1),
        coverage_class: oneOf(...COVERAGE_CLASSES),
        amount_minor: integer(0),
        evidence_backed_amount_minor: integer(0),
        verdict: oneOf(...VERDICTS),
        boundary: constant(BOUNDARY),
      },
      { optional: { settlement_binding: settlementBinding }, closed: true },
    ),
  },
  closed,
);

/** A metering receipt `sls.metering`. Hashes and commitments are 64 hex. */
export type MeteringReceipt = Infer<typeof meteringShape>;

export type SignedBody = MeteringReceipt['signed_body'];

/** Members that follow from the rest of the bill, so the biller may leave them out and cannot change them. */
export const DERIVED = [
  'receipt_type',
  'schema',
  'metering_id',
  'evidence_coverage_ratio',
  'coverage_class',
  'amount_minor',
  'evidence_backed_amount_minor',
  'verdict',
  'boundary',
] as const;
export const DERIVED_METERED = [
  'evidence_backed_unit_count',
  'unbacked_unit_count',
  'receipt_set_digest',
] as const;

const anything: Rule<JsonValue> = () => null;
const claims = <Name extends string>(names: readonly Name[]): Readonly<Record<Name, Rule<JsonValue>>> =>
  Object.fromEntries(names.map((name) => [name, anything])) as Record<Name, Rule<JsonValue>>;

/** Rules for derived members, which the biller may state and which are then compared. */
export const derived = claims([...DERIVED, ...DERIVED_METERED]);

const derivedMetered = claims(['billed_unit_count', ...DERIVED_METERED]);

/** A bill as a biller states it. It may hold derived members too, which minting compares. */
export const billShape = object(
  { ...billMembers, billed_unit_count: units },
  {
    optional: {
      /** When the bill was compiled; now when absent. */
      compiled_at: timestamp,
      settlement_binding: settlementBinding,
      ...derived,
      metered: object({}, { optional: derivedMetered, closed: true }),
    },
    closed: true,
  },
);
