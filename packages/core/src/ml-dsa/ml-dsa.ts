import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { fromHex } from '../encoding/hex.ts';
import { openSslMlDsa } from './openssl.ts';
import type { MlDsaSet, Verify } from './set.ts';
import { webCryptoMlDsa } from './web-crypto.ts';

export const ML_DSA_44: MlDsaSet = {
  name: 'ML-DSA-44',
  publicKeyBytes: 1312,
  signatureBytes: 2420,
  spkiPrefix: fromHex('30820532300b06096086480165030403110382052100'),
  verifyInJavaScript: ml_dsa44.verify,
};
export const ML_DSA_65: MlDsaSet = {
  name: 'ML-DSA-65',
  publicKeyBytes: 1952,
  signatureBytes: 3309,
  spkiPrefix: fromHex('308207b2300b0609608648016503040312038207a100'),
  verifyInJavaScript: ml_dsa65.verify,
};

/** What verifies each parameter set: a runtime may have one and lack the other. */
const chosen = new Map<MlDsaSet, Promise<Verify>>();

/**
 * Verifies a pure ML-DSA signature with the empty context (FIPS 204, algorithm 3): by OpenSSL in Node and whatever has its modules
 * with ML-DSA, else by WebCrypto where that has it, else in JavaScript. Keys and signatures of another length are false, not an
 * error.
 */
export async function verifyMlDsa(
  set: MlDsaSet,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.length !== set.publicKeyBytes || signature.length !== set.signatureBytes) return false;
  const choice = chosen.get(set) ?? choose(set);
  chosen.set(set, choice);
  const verify = await choice;
  return verify(set, publicKey, message, signature);
}

async function choose(set: MlDsaSet): Promise<Verify> {
  return openSslMlDsa(set) ?? (await webCryptoMlDsa(set)) ?? javaScriptMlDsa;
}

export const javaScriptMlDsa: Verify = (set, publicKey, message, signature) =>
  set.verifyInJavaScript(signature, message, publicKey);
