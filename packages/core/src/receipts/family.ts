import type { JsonObject, JsonValue } from '../json/types.ts';
import type { EvidenceCounts } from '../metering/evidence-classes.ts';
import type { EvidenceJudge } from '../metering/intake.ts';
import type { KeyPurpose } from '../trust/issuer.ts';
import type { NamedSettlement } from './settlement.ts';
import type { Fault } from './shape.ts';

/** The version that envelopes and profiles declare (specification 2.8). */
export const SCHEMA_VERSION = 'r1.0.0';

/** Largest receipts, in bytes of their JCS form without the unsigned members (specification 2.8). */
export const MAX_BYTES = { nano: 600, standard: 3072 } as const;

/** Retention of each profile at the service, in days (specification 2.8; metering as pq). */
export const RETENTION_DAYS = { nano: 30, standard: 365, pq: 2557, metering: 2557 } as const;

/** Tolerated difference between two clocks, in seconds. */
export const CLOCK_SKEW = 300;

export type FamilyName = 'envelope' | 'profile' | 'metering' | 'issue' | 'legacy' | 'benchmark' | 'status';

/** Claims of a receipt, read from a document whose shape is valid. */
export interface Claims {
  readonly receiptId: string;
  readonly profile: string;
  /** Id of the key; null if only `issuerPublicKey` names the key. */
  readonly keyId: string | null;
  /** base64url, 32 bytes; null where the family carries none. */
  readonly issuerPublicKey: string | null;
  readonly issuerDid: string | null;
  readonly issuerVerified: boolean | null;
  /** Whole Unix seconds. */
  readonly issuedAt: number;
  /**
   * Whether the receipt may have been signed long after `issuedAt`, as a bill is that was compiled earlier. The
   * start of
   * the key then does not bound `issuedAt`; the end and the revocation of the key do.
   */
  readonly mayBeSignedLater?: boolean;
  /** base64url, 64 bytes: the issuer's own signature. */
  readonly signature: string;
}

/** One named check. `ok` is null where there was nothing to check it with; `detail` says why. */
export interface Check {
  readonly name: string;
  readonly ok: boolean | null;
  readonly detail: string;
}

/** A signature of somebody other than the issuer: the role, the DID that must have made it, the signature. */
export interface CounterSignature {
  readonly role: 'requester' | 'operator';
  readonly did: string | null;
  readonly signature: string | null;
}

/**
 * Description of a receipt family for the verifier. All functions but `recognises` and `shape` expect a document
 * whose shape holds.
 */
export interface Family {
  readonly name: FamilyName;
  /** Purpose that the issuer's key must have; `receipt` when absent. */
  readonly keyPurpose?: KeyPurpose;
  recognises(document: JsonObject): boolean;
  shape(document: JsonObject): Fault | null;
  claims(document: JsonObject): Claims;
  /** The value whose JCS bytes the issuer signed. */
  signed(document: JsonObject): JsonValue;
  /** The members that `signed` leaves out for holding the signature, in one object. */
  signatureMembers(document: JsonObject): JsonObject;
  /** The document as it is anchored: without unsigned members and counter-signatures, with the issuer's signature. */
  anchored(document: JsonObject): JsonObject;
  counterSignatures(document: JsonObject): readonly CounterSignature[];
  /** The transaction that the receipt says has paid for it; null, like the absence of this, where it names none. */
  settlement?(document: JsonObject): NamedSettlement | null;
  /** The family's own rules, each by name. */
  rules(document: JsonObject): Iterable<Check>;
  /**
   * Judges the evidence behind the receipt, where the family has any; `counts` are null where it was not read
   * whole.
   */
  evidence?(
    document: JsonObject,
    items: Iterable<JsonValue> | undefined,
    judge: EvidenceJudge,
  ): Promise<{ readonly check: Check; readonly counts: EvidenceCounts | null }>;
}

/**
 * A shallow copy without the unsigned members, which are exactly `anchor_ref`, `tier` and `anchor`: hints about
 * where the receipt is anchored, never authority.
 */
export function withoutUnsigned(document: JsonObject): JsonObject {
  const { anchor_ref: _ref, tier: _tier, anchor: _anchor, ...signed } = document;
  return signed;
}

export const passed = (name: string, detail: string): Check => ({ name, ok: true, detail });
export const failed = (name: string, detail: string): Check => ({ name, ok: false, detail });
export const unchecked = (name: string, detail: string): Check => ({ name, ok: null, detail });
export const check = (name: string, ok: boolean, good: string, bad: string): Check => ({
  name,
  ok,
  detail: ok ? good : bad,
});
