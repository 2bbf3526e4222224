import type { AnchoredResult, EnvelopeFacts, SealReference, SettlementReference } from '@tallystick/core';

/** Members that no signature covers (spec/receipts.md): hints, never authority. */
export interface UnsignedMembers {
  readonly anchor_ref?: string;
  readonly tier?: string;
  readonly anchor?: AnchoredResult;
}

/** Signer and time, in every family but nano and metering. */
interface Issuance {
  /** `YYYY-MM-DDThh:mm:ss[.f]Z`. */
  readonly issued_at: string;
  /** base64url, 32 bytes. */
  readonly issuer_pubkey: string;
  readonly issuer_verified: boolean;
}

/** An envelope `svc-receipt-v1` (specification 2.7). Signatures are base64url, 64 bytes. */
export interface EnvelopeReceipt extends EnvelopeFacts, Issuance, UnsignedMembers {
  readonly v: 'svc-receipt-v1';
  readonly receipt_profile: 'standard';
  readonly receipt_schema_version: string;
  readonly receipt_id: string;
  readonly issuer_did?: string;
  readonly key_id: string;
  readonly signatures: {
    readonly requester: string | null;
    readonly operator: string | null;
    readonly svc: string;
  };
}

interface ReceiptReference {
  readonly id: string;
  readonly sig_b64u: string;
  readonly verify_uri: string;
}

/** Profile nano (specification 2.8): `a` is the agent, `h` the subject's SHA-256 in base64url, `t` its media type. */
export interface NanoReceipt {
  readonly profile: 'nano';
  readonly v: string;
  readonly a: string;
  readonly h: string;
  readonly t: string;
  readonly ok: boolean;
  /** Unix seconds. */
  readonly ts: number;
  readonly k: string;
  readonly receipt: ReceiptReference;
}

interface FullReceipt extends Issuance, UnsignedMembers {
  readonly receipt_schema_version: string;
  readonly agent_did: string;
  readonly agent_proved: boolean;
  /** `sha256` is 64 hex. */
  readonly subject: { readonly sha256: string; readonly content_type: string; readonly ok: boolean };
  readonly purpose?: string | null;
  readonly settlement_reference: SettlementReference;
  readonly seal: { readonly sealed: boolean; readonly declaration: string } & Partial<SealReference>;
  readonly reputation_context: { readonly reputation_tier: string };
  readonly issuer_did: string;
  readonly key_id: string;
  readonly receipt: ReceiptReference;
}

/** Profile standard (specification 2.8). */
export interface StandardReceipt extends FullReceipt {
  readonly receipt_profile: 'standard';
}

/** Profile pq (specification 2.8): it declares a posture and is signed with Ed25519. */
export interface PqReceipt extends FullReceipt {
  readonly receipt_profile: 'pq';
  readonly crypto_agile_metadata: {
    readonly current_alg: 'Ed25519';
    readonly signature_posture: string;
    readonly envelope_posture: string;
  };
  readonly sealed_evidence_ref: string | null;
  readonly pq_posture: string;
  readonly auditor_verifier: boolean;
}

/** The receipt of each profile. */
export interface ReceiptOfProfile {
  readonly nano: NanoReceipt;
  readonly standard: StandardReceipt;
  readonly pq: PqReceipt;
}

export type ServiceUnit =
  | 'machine_hour'
  | 'task_completion'
  | 'pick'
  | 'kilometre_travelled'
  | 'pallet_moved'
  | 'inspection_pass';

export type SettlementClass = 'x402_offer' | 'invoice_reference' | 'none';

/** A metering receipt `sls.metering` (specification 2.1 to 2.5). Hashes and commitments are 64 hex. */
export interface MeteringReceipt {
  readonly receipt_id: string;
  readonly payload_sha256: string;
  readonly sig_b64u: string;
  readonly key_id: string;
  readonly algorithm: 'Ed25519';
  /** Unix seconds. */
  readonly ts: number;
  readonly signed_body: {
    readonly receipt_type: 'sls.metering';
    readonly schema: string;
    readonly metering_id: string;
    readonly machine_commitment: string;
    readonly customer_commitment: string;
    readonly window_start: string;
    readonly window_end: string;
    readonly compiled_at: string;
    readonly service_unit: ServiceUnit;
    readonly metered: {
      readonly billed_unit_count: number;
      readonly evidence_backed_unit_count: number;
      readonly unbacked_unit_count: number;
      readonly receipt_set_digest: string;
    };
    readonly evidence_coverage_ratio: number;
    readonly coverage_class:
      | 'fully_evidence_backed'
      | 'majority_evidence_backed'
      | 'minority_evidence_backed'
      | 'not_evidence_backed';
    readonly rate: {
      readonly unit_rate_minor: number;
      readonly currency: string;
      readonly rate_commitment: string;
    };
    readonly amount_minor: number;
    readonly evidence_backed_amount_minor: number;
    readonly settlement_binding?: {
      readonly settlement_class: SettlementClass;
      readonly settlement_commitment: string;
    };
    readonly verdict:
      | 'metered_units_fully_evidence_backed'
      | 'metered_units_partially_evidence_backed'
      | 'metered_units_not_evidence_backed';
    readonly salt_commitment: string;
    readonly boundary: string;
  };
}

/** An issuer's own receipt `svc-issue-v1` (spec/receipts.md). */
export interface IssueReceipt extends Issuance, UnsignedMembers {
  readonly type: 'svc-issue-v1';
  readonly receipt_id: string;
  readonly symbol: string;
  readonly units: number;
  readonly amount_usd: number;
  readonly recipient: string;
  readonly issuer_did?: string;
  readonly sig_b64u: string;
}

/**
 * Receipts that the service keeps and returns by id. Tell them apart by `v`, `profile`, `receipt_profile`,
 * `signed_body`.
 */
export type StoredReceipt = EnvelopeReceipt | NanoReceipt | StandardReceipt | PqReceipt | MeteringReceipt;
