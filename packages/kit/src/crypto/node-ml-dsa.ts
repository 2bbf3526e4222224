import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type PqSigner, pqKeyId, TallyError } from '@tallystick/core';

/** The DER that precedes the 32 bytes of a seed (RFC 9881, section 6: the choice `seed`). */
const pkcs8Prefix = Buffer.from('3034020100300b060960864801650304031204228020', 'hex');
/** Length of the DER that precedes a public key of 1,952 bytes (RFC 9881, section 4). */
const SPKI_PREFIX = 22;

/** A signer of pq receipts. Its public key has 1,952 bytes. */
export interface NodePqSigner extends PqSigner {
  readonly publicKey: Uint8Array;
}

/**
 * A signer by ML-DSA-65 that holds the key in OpenSSL, which signs hedged (FIPS 204, section 3.4).
 * @param seed the 32 bytes of FIPS 204, algorithm 1
 * @throws unavailable where this Node has no ML-DSA
 */
export function nodePqSigner(seed: Uint8Array): NodePqSigner {
  const key = privateKeyOf(seed);
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const publicKey = new Uint8Array(spki.subarray(SPKI_PREFIX));
  return {
    keyId: pqKeyId(publicKey),
    publicKey,
    sign: async (message) => new Uint8Array(sign(null, message, key)),
  };
}

function privateKeyOf(seed: Uint8Array): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw new TallyError('unavailable', 'This Node has no ML-DSA-65: it takes Node 24.6 with OpenSSL 3.5.', {
      cause,
    });
  }
}
