import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { fromHex } from '../encoding/hex.ts';
import { openSslMlDsa } from './openssl.ts';
import type { MlDsaSet, Verify } from './set.ts';

export const ML_DSA_44: MlDsaSet = {
  publicKeyBytes: 1312,
  signatureBytes: 2420,
  spkiPrefix: fromHex('30820532300b06096086480165030403110382052100'),
  verifyInJavaScript: ml_dsa44.verify,
};
export const ML_DSA_65: MlDsaSet = {
  publicKeyBytes: 1952,
  signatureBytes: 3309,
  spkiPrefix: fromHex('308207b2300b0609608648016503040312038207a100'),
  verifyInJavaScript: ml_dsa65.verify,
};

let chosen: Verify | undefined;

/**
 * Verifies a pure ML-DSA signature with the empty context (FIPS 204, algorithm 3): by OpenSSL in Node and whatever has its modules
 * with ML-DSA, else in JavaScript. Keys and signatures of another length are false, not an error.
 */
export function verifyMlDsa(
  set: MlDsaSet,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== set.publicKeyBytes || signature.length !== set.signatureBytes) return false;
  chosen ??= openSslMlDsa(ML_DSA_44) ?? javaScriptMlDsa;
  return chosen(set, publicKey, message, signature);
}

export const javaScriptMlDsa: Verify = (set, publicKey, message, signature) =>
  set.verifyInJavaScript(signature, message, publicKey);
