import { fromBase64url, type Signer } from '@tallystick/core';
import { createSigner } from './create-signer.ts';

/** A signing key: the 32-byte Ed25519 seed, the seed in base64url, or a Signer whose secret is elsewhere. */
export type SigningKey = Uint8Array | string | Signer;

/** Returns a signer for the key. @throws invalid_secret_key, invalid_base64url */
export async function signerOf(key: SigningKey): Promise<Signer> {
  if (typeof key === 'string') return createSigner(fromBase64url(key, 32));
  return key instanceof Uint8Array ? createSigner(key) : key;
}
