import { ed25519 } from '@noble/curves/ed25519.js';
import { didKeyOf } from '../did/key.ts';
import { TallyError } from '../errors.ts';

/**
 * A signing key whose secret may be held elsewhere (a key file, an HSM, a key management service). It may be
 * used concurrently; `sign` rejects when the key cannot be reached.
 */
export interface Signer {
  /** The key's name in what it signs: its did:key unless its holder publishes it under another id. */
  readonly keyId: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The 64-byte Ed25519 signature of exactly these bytes (RFC 8032, section 5.1.6). */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/**
 * A signer in pure JavaScript over its own copy of the secret.
 * @param secretKey the 32-byte seed of RFC 8032
 * @throws invalid_secret_key
 */
export async function createSigner(secretKey: Uint8Array): Promise<Signer> {
  const publicKey = publicKeyOf(secretKey);
  const secret = Uint8Array.from(secretKey);
  return {
    keyId: didKeyOf(publicKey),
    publicKey,
    sign: async (message) => ed25519.sign(message, secret),
  };
}

/** 32 random bytes from the platform's generator: a seed as RFC 8032 means it. */
export function generateSecretKey(): Uint8Array {
  return ed25519.utils.randomSecretKey();
}

/** The 32-byte public key of a 32-byte seed. @throws invalid_secret_key */
export function publicKeyOf(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== 32) {
    throw new TallyError('invalid_secret_key', `An Ed25519 secret key is 32 bytes, not ${secretKey.length}.`);
  }
  return ed25519.getPublicKey(secretKey);
}
