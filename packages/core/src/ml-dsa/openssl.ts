import { nodeCrypto } from '../ed25519/engines.ts';
import type { NodeCrypto } from '../ed25519/node-engine.ts';
import { concatBytes } from '../encoding/bytes.ts';
import type { MlDsaSet, Verify } from './set.ts';

/** Returns the verifier by OpenSSL; null where there is none with ML-DSA. Whether there is one is tried with the parameters `set`. */
export function openSslMlDsa(set: MlDsaSet): Verify | null {
  const crypto = nodeCrypto() as NodeCrypto<object> | undefined;
  if (crypto === undefined) return null;
  const keyObject = ({ spkiPrefix }: MlDsaSet, publicKey: Uint8Array): object =>
    crypto.createPublicKey({ key: concatBytes(spkiPrefix, publicKey), format: 'der', type: 'spki' });
  try {
    // Any bytes are a public key (FIPS 204, algorithm 23).
    keyObject(set, new Uint8Array(set.publicKeyBytes));
  } catch {
    return null;
  }
  return (of, publicKey, message, signature) =>
    crypto.verify(null, message, keyObject(of, publicKey), signature);
}
