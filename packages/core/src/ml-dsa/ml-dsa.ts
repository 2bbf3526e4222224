import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';

/** A parameter set of ML-DSA (FIPS 204, section 4) with its sizes in bytes. */
export interface MlDsaSet {
  readonly publicKeyBytes: number;
  readonly signatureBytes: number;
  readonly verify: (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array) => boolean;
}

export const ML_DSA_44: MlDsaSet = { publicKeyBytes: 1312, signatureBytes: 2420, verify: ml_dsa44.verify };
export const ML_DSA_65: MlDsaSet = { publicKeyBytes: 1952, signatureBytes: 3309, verify: ml_dsa65.verify };

/**
 * Verifies a pure ML-DSA signature with the empty context (FIPS 204, algorithm 3). Keys and signatures of another
 * length are false, not an error.
 */
export function verifyMlDsa(
  { publicKeyBytes, signatureBytes, verify }: MlDsaSet,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== publicKeyBytes || signature.length !== signatureBytes) return false;
  return verify(signature, message, publicKey);
}
