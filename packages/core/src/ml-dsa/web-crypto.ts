import { concatBytes } from '../encoding/bytes.ts';
import type { MlDsaSet, Verify } from './set.ts';

/**
 * Returns a function that verifies by WebCrypto (WICG, Modern Algorithms in the Web Cryptography API), or null where WebCrypto does not
 * know the parameter set.
 */
export async function webCryptoMlDsa(set: MlDsaSet): Promise<Verify | null> {
  try {
    // Any bytes are a public key (FIPS 204, algorithm 23).
    await importKey(set, new Uint8Array(set.publicKeyBytes));
  } catch {
    return null;
  }
  return async (of, publicKey, message, signature) => {
    const key = await importKey(of, publicKey);
    return crypto.subtle.verify(of.name, key, Uint8Array.from(signature), Uint8Array.from(message));
  };
}

function importKey({ name, spkiPrefix }: MlDsaSet, publicKey: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('spki', Uint8Array.from(concatBytes(spkiPrefix, publicKey)), name, false, [
    'verify',
  ]);
}
