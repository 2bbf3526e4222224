/** A parameter set of ML-DSA (FIPS 204, section 4) with its sizes in bytes. */
export interface MlDsaSet {
  readonly name: string;
  readonly publicKeyBytes: number;
  readonly signatureBytes: number;
  /** The DER that precedes a public key (RFC 9881, section 4). */
  readonly spkiPrefix: Uint8Array;
  readonly verifyInJavaScript: (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;
}

/** Verifies what has the right lengths. */
export type Verify = (
  set: MlDsaSet,
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;
