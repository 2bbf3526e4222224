import { createSigner, fromBase64url, type Signer } from '@tallystick/core';

/** A signing key: the 32-byte Ed25519 seed, that in base64url, or a Signer whose secret is elsewhere. */
export type SigningKey = Uint8Array | string | Signer;

/** @throws invalid_secret_key, invalid_base64url */
export async function signerOf(key: SigningKey): Promise<Signer> {
  if (typeof key === 'string') return createSigner(fromBase64url(key, 32));
  return key instanceof Uint8Array ? createSigner(key) : key;
}
