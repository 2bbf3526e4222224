import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { type Ed25519Engine, verifyEd25519 } from '../ed25519/profile.ts';
import { recoverAddress } from '../ethereum/recover.ts';
import type { ForeignSignature } from './family.ts';
import type { ForeignKey } from './keys.ts';

const CURVES = { 'P-256': p256, secp256k1 };

/** The kind of key that makes a signature of this algorithm. */
export const KEY_KINDS = {
  EdDSA: 'Ed25519',
  ECDSA: 'P-256',
  ES256: 'P-256',
  ES256K: 'secp256k1',
  'EIP-712': 'account',
} as const;

/** Returns whether the key made the signature. False, and never an exception, for what can't be a key or signature. */
export async function holds(
  { algorithm, message, signature }: ForeignSignature,
  key: ForeignKey,
  engine: Ed25519Engine,
): Promise<boolean> {
  if (key.kind === 'Ed25519') return verifyEd25519(engine, key.publicKey, message, signature);
  if (key.kind === 'account') return recoverAddress(message, signature) === key.address;
  // DSSE's signers write ECDSA as DER; JWS and COSE have r || s alone, which is 64 bytes for both curves.
  const format = algorithm !== 'ECDSA' || signature.length === 64 ? 'compact' : 'der';
  try {
    return CURVES[key.kind].verify(signature, message, key.publicKey, { lowS: false, format });
  } catch {
    return false;
  }
}
