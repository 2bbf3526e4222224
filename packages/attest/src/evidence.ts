import type { KeyObject, X509Certificate } from 'node:crypto';
import { TallyError } from '@tallystick/core';

/** The kinds of evidence that are read, as `hardware.attestation` names them. */
export const ATTESTATION_TYPES = ['sev-snp', 'tdx', 'nitro', 'nvidia'] as const;
export type AttestationType = (typeof ATTESTATION_TYPES)[number];

/** A signature within the evidence: by what, over what. */
interface Signature {
  /** What must have been signed, in words. */
  readonly what: string;
  readonly key: KeyObject;
  readonly algorithm: 'sha256' | 'sha384';
  readonly message: Uint8Array;
  /** r and s, each with as many bytes as the curve has. */
  readonly signature: Uint8Array;
}

/** A rule of the vendor that the evidence must keep beside its signatures. */
export interface VendorRule {
  readonly holds: boolean;
  /** What holds, or what does not: a sentence. */
  readonly detail: string;
}

/** What the hardware stated, as far as a verifier of any kind of evidence asks for it. */
export interface Statement {
  /** Measurement of the software that was started, in hex; null if the kind of evidence has none that is one value. */
  readonly measurement: string | null;
  /** What the software, or who asked, gave to be signed along, in hex; null if nothing was given. */
  readonly reportData: string | null;
  /** Whether the machine can be debugged from outside; null if the evidence does not say. */
  readonly debug: boolean | null;
  /** Whether an agent may move the machine to another host; null if the evidence does not say. */
  readonly movable: boolean | null;
  /**
   * Whether the host can make the software meet an exception where it reads memory of its own, by taking a page away (TDX: SEPT_VE_DISABLE
   * is not set); null if the evidence does not say.
   */
  readonly interruptible: boolean | null;
  /** The level of privilege at which the evidence was asked for, of SEV-SNP (VMPL); null for another kind. 0 is the highest. */
  readonly level: number | null;
  /** When the evidence was made, as it says: Unix milliseconds. Null if it does not say. */
  readonly time: number | null;
}

/** One signed statement with all that is needed to judge it. Reading it checks its form only. */
export interface Evidence {
  readonly type: AttestationType;
  readonly statement: Statement;
  /** The certificate of the key that vouches for all the rest. */
  readonly leaf: X509Certificate;
  /** Certificates that may lie between it and the root, and the root. */
  readonly others: readonly X509Certificate[];
  readonly signatures: readonly Signature[];
  readonly rules: readonly VendorRule[];
}

export const malformed = (message: string, cause?: unknown): TallyError =>
  new TallyError('attestation_invalid', message, cause === undefined ? {} : { cause });
