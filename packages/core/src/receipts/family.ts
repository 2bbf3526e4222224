import type { JsonObject, JsonValue } from '../json/types.ts';
import type { EvidenceCounts } from '../metering/evidence-classes.ts';
import type { EvidenceVerifier } from '../metering/intake.ts';
import type { PqSignature } from '../ml-dsa/pq-signature.ts';
import { secondsOf } from '../time.ts';
import type { KeyPurpose } from '../trust/issuer.ts';
import type { NamedSettlement } from './named-settlement.ts';
import type { Rule } from './shape.ts';

/** The version that envelopes and profiles declare (specification 2.8). */
export const SCHEMA_VERSION = 'r1.0.0';

/** Tolerated difference between two clocks, in seconds. */
export const CLOCK_SKEW = 300;

export type FamilyName = 'envelope' | 'profile' | 'metering' | 'issue' | 'legacy' | 'benchmark' | 'status';

/** Claims of a receipt, read from a document whose shape is valid. */
export interface Claims {
  readonly receiptId: string;
  readonly profile: string;
  /** Id of the key; null if only `issuerPublicKey` names the key. */
  readonly keyId: string | null;
  /** Public key, base64url of 32 bytes; null if the family carries none. */
  readonly issuerPublicKey: string | null;
  readonly issuerDid: string | null;
  readonly issuerVerified: boolean | null;
  /** Time of issue, in whole Unix seconds. */
  readonly issuedAt: number;
  /**
   * Whether the receipt may have been signed long after `issuedAt`, as a bill is that was compiled earlier. The start
   * of the key then does not bound `issuedAt`; the end and the revocation of the key do.
   */
  readonly mayBeSignedLater?: boolean;
  /** The issuer's own signature: base64url of 64 bytes. */
  readonly signature: string;
  /** Most bytes that the receipt may have, in JCS without the unsigned members; null or absent: no limit. */
  readonly maxBytes?: number | null;
}

/** One named check. `ok` is null if the check could not be made; `detail` says why. */
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
 * What the verifier needs to know of a receipt family. All functions but `recognises` and `shape` expect a document that
 * passes `shape`, whose type is `T`.
 */
export interface Family<T extends JsonObject = JsonObject> {
  readonly name: FamilyName;
  /** Purpose that the issuer's key must have; `receipt` when absent. */
  readonly keyPurpose?: KeyPurpose;
  recognises(document: JsonObject): boolean;
  readonly shape: Rule<T>;
  claims(document: T): Claims;
  /** The value whose JCS bytes the issuer signed. */
  signed(document: T): JsonObject;
  /** The members that hold the signature, in one object: `signed` leaves them out. */
  signatureMembers(document: T): JsonObject;
  /** The document as it is anchored: without unsigned members and counter-signatures, with the issuer's signature. */
  anchored(document: T): JsonObject;
  /** The signatures of parties other than the issuer; absent if the family has none. */
  counterSignatures?(document: T): readonly CounterSignature[];
  /** The transaction that the receipt names as its payment; null, like the absence of this function, if it names none. */
  settlement?(document: T): NamedSettlement | null;
  /**
   * The second signature, by ML-DSA; null if the receipt says that it has one and has none, or the reverse; undefined, like
   * the absence of this function, if it says nothing of one.
   */
  pqSignature?(document: T): PqSignature | null | undefined;
  /** The family's own rules, each by name; absent if its shape covers them all. */
  rules?(document: T): Iterable<Check>;
  /** Judges the evidence behind the receipt, if the family has any; `counts` are null if it was not read whole. */
  evidence?(
    document: T,
    items: Iterable<JsonValue> | undefined,
    verifier: EvidenceVerifier,
  ): Promise<{ readonly check: Check; readonly counts: EvidenceCounts | null }>;
}

/**
 * A shallow copy without the unsigned members, which are exactly `anchor_ref`, `tier` and `anchor`: hints about
 * the receipt's anchor, never authority.
 */
export function withoutUnsigned(document: JsonObject): JsonObject {
  const { anchor_ref: _ref, tier: _tier, anchor: _anchor, ...signed } = document;
  return signed;
}

/** The parts of a family whose documents name it in `type` and hold the issuer's signature in `sig_b64u`. */
export const typedFamily = (
  type: string,
): Pick<Family, 'recognises' | 'signed' | 'signatureMembers' | 'anchored'> => ({
  recognises: (document) => document.type === type,
  signed(document) {
    const { sig_b64u: _signature, ...signed } = withoutUnsigned(document);
    return signed;
  },
  signatureMembers: ({ sig_b64u }) => ({ sig_b64u: sig_b64u ?? null }),
  anchored: withoutUnsigned,
});

/** The members about signer and time, as most families have them. */
export const signerOf = ({
  key_id = null,
  issuer_pubkey = null,
  issuer_did = null,
  issuer_verified = null,
  issued_at,
}: {
  readonly key_id?: string | null;
  readonly issuer_pubkey?: string | null;
  readonly issuer_did?: string | null;
  readonly issuer_verified?: boolean | null;
  readonly issued_at: string;
}): Omit<Claims, 'receiptId' | 'profile' | 'signature'> => ({
  keyId: key_id,
  issuerPublicKey: issuer_pubkey,
  issuerDid: issuer_did,
  issuerVerified: issuer_verified,
  issuedAt: secondsOf(issued_at),
});

export const passed = (name: string, detail: string): Check => ({ name, ok: true, detail });
export const failed = (name: string, detail: string): Check => ({ name, ok: false, detail });
export const unchecked = (name: string, detail: string): Check => ({ name, ok: null, detail });
export const check = (name: string, ok: boolean, good: string, bad: string): Check => ({
  name,
  ok,
  detail: ok ? good : bad,
});
