import type {
  ENVELOPE_PROFILE,
  EnvelopeFacts,
  IssuedReceipt,
  MeteringReceipt,
  ReceiptOfProfile,
  SERVICE_UNITS,
  SETTLEMENT_CLASSES,
  UnsignedMembers,
} from '@tallystick/core';

/** Members about signer and time, in every family but nano and metering. */
interface Issuance {
  /** Time of issue: `YYYY-MM-DDThh:mm:ss[.f]Z`. */
  readonly issued_at: string;
  /** The issuer's public key: base64url, 32 bytes. */
  readonly issuer_pubkey: string;
  readonly issuer_verified: boolean;
}

/** An envelope `svc-receipt-v1` (specification 2.7). Signatures are base64url, 64 bytes. */
export interface EnvelopeReceipt extends EnvelopeFacts, Issuance, UnsignedMembers {
  readonly v: 'svc-receipt-v1';
  readonly receipt_profile: typeof ENVELOPE_PROFILE;
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

export type ServiceUnit = (typeof SERVICE_UNITS)[number];

export type SettlementClass = (typeof SETTLEMENT_CLASSES)[number];

/** An issuer's own receipt `svc-issue-v1` (spec/receipts.md). */
export type IssueReceipt = IssuedReceipt & UnsignedMembers;

/**
 * Receipts that the service stores and returns by id. Tell them apart by `v`, `profile`, `receipt_profile`,
 * `signed_body`.
 */
export type StoredReceipt = EnvelopeReceipt | ReceiptOfProfile[keyof ReceiptOfProfile] | MeteringReceipt;
