import { TallyError } from '../errors.ts';
import type { JsonObject } from '../json/types.ts';
import type { Check } from '../receipts/family.ts';
import { isObject, type Rule } from '../receipts/shape.ts';
import type { Trust } from '../trust/issuer.ts';
import type { ForeignKey } from './keys.ts';

export type ForeignFamilyName = 'acta' | 'x402' | 'dsse' | 'tlog_proof' | 'cose_receipt' | 'a2a_trust';

/**
 * One document of a file: a JSON object, or the whole text of a file that is not JSON, which for a COSE message is its data
 * URL (RFC 2397).
 */
export type ForeignDocument = JsonObject | string;

/** A signature over bytes, and what the receipt says of its key. */
export interface ForeignSignature {
  /** `ECDSA` is P-256 with SHA-256, as DER or as r || s. The message of `EIP-712` is the 32-byte hash that is signed. */
  readonly algorithm: 'EdDSA' | 'ECDSA' | 'ES256' | 'ES256K' | 'EIP-712';
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  /** The key that the receipt carries; null if it carries none, so that only a key from elsewhere can check it. */
  readonly carried: ForeignKey | null;
  /** The name that the receipt gives its key; null if it gives none. */
  readonly keyId: string | null;
  /** Whether this key may have made the signature, for a family whose signatures tell more of their key than its kind. */
  readonly fits?: (key: ForeignKey) => boolean;
  /** The keys by which the trust vouches for this signer, for a family whose signers are no issuers. */
  readonly vouched?: (trust: Trust) => readonly ForeignKey[];
}

/** What a family reads from a document. Nothing in it is believed yet. */
export interface ForeignReceipt {
  /** The form within the family. */
  readonly profile: string;
  readonly id: string | null;
  /** When it says that it was issued, in Unix seconds; null if it doesn't say. */
  readonly issuedAt: number | null;
  /** One that holds is enough. */
  readonly signatures: readonly ForeignSignature[];
  /** The family's own rules about this receipt; absent if its form covers them all. */
  readonly checks?: readonly Check[];
  /** Why this receipt proves nothing of what it is for, even under a trusted key; absent if nothing is missing. */
  readonly undecided?: string;
  readonly document: ForeignDocument;
}

/** Beside the document, what a reader may use. */
export interface ForeignFacts {
  /** The entry that a proof of inclusion is about: the bytes that the log hashed. */
  readonly entry?: Uint8Array | undefined;
  /** Unix milliseconds. */
  readonly now: number;
}

/** What the verifier needs to know of a kind of foreign receipts: docs/foreign-receipts.md says how to write one. */
export interface ForeignFamily {
  readonly name: ForeignFamilyName;
  /** Returns whether a document says that it is of this family. It need not be well-formed. */
  recognises(document: ForeignDocument): boolean;
  /** The receipts in a document. @throws ForeignFault if its form is wrong */
  read(document: ForeignDocument, facts: ForeignFacts): readonly ForeignReceipt[];
  /** Rules about all receipts of a file, in their order, on which their integrity depends. */
  together?(receipts: readonly ForeignReceipt[]): readonly Check[];
  /** What intact receipts say against being valid. */
  contradictions?(receipts: readonly ForeignReceipt[]): readonly Check[];
  /** What such receipts do not cover, in sentences. */
  notes(receipts: readonly ForeignReceipt[]): readonly string[];
}

/** The form of a document is wrong; the message says how. */
export class ForeignFault extends Error {
  override readonly name = 'ForeignFault';
}

/** Returns the document as what the rule lets pass. @throws ForeignFault */
export function requireForm<T extends object>(rule: Rule<T>, document: ForeignDocument): JsonObject & T {
  if (!isObject(document)) throw new ForeignFault('It is not a JSON object.');
  const fault = rule(document, '');
  if (fault === null) return document as JsonObject & T;
  throw new ForeignFault(`${fault.field} must be ${fault.expected}.`);
}

/** The result of `act`, whose errors are faults of the document, in these words or in their own. @throws ForeignFault */
export function orFault<T>(act: () => T, message?: string): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof TallyError) throw new ForeignFault(message ?? error.message);
    throw error;
  }
}
