import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import { type CosigningKey, type PqSigner, pqKeyId, TallyError } from '@tallystick/core';

/** The DER that precedes the 32 bytes of a seed (RFC 9881, section 6: the choice `seed`). */
const PKCS8_PREFIXES = {
  'ML-DSA-44': Buffer.from('3034020100300b060960864801650304031104228020', 'hex'),
  'ML-DSA-65': Buffer.from('3034020100300b060960864801650304031204228020', 'hex'),
} as const;
type Parameters = keyof typeof PKCS8_PREFIXES;
/** Length of the DER that precedes a public key of either (RFC 9881, section 4). */
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
  const signer = signerOf('ML-DSA-65', seed);
  return { ...signer, keyId: pqKeyId(signer.publicKey) };
}

/**
 * A witness's key for ML-DSA-44, made from the secret of its Ed25519 key by HKDF-SHA-256 (RFC 5869) without salt: no secret serves
 * two algorithms, and a witness keeps one file.
 * @param secret the 32-byte seed of the Ed25519 key
 * @throws unavailable where this Node has no ML-DSA
 */
export function nodeMlDsaCosigner(secret: Uint8Array): CosigningKey {
  const seed = hkdfSync('sha256', secret, '', 'tallystick witness ML-DSA-44', 32);
  return signerOf('ML-DSA-44', new Uint8Array(seed));
}

function signerOf(parameters: Parameters, seed: Uint8Array): CosigningKey {
  const key = privateKeyOf(parameters, seed);
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(SPKI_PREFIX)),
    sign: async (message) => new Uint8Array(sign(null, message, key)),
  };
}

function privateKeyOf(parameters: Parameters, seed: Uint8Array): KeyObject {
  try {
    const der = Buffer.concat([PKCS8_PREFIXES[parameters], seed]);
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    const message = `This Node has no ${parameters}: it takes Node 24.6 with OpenSSL 3.5.`;
    throw new TallyError('unavailable', message, { cause });
  }
}
