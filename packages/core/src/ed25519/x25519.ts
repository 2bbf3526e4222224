import { ed25519 } from '@noble/curves/ed25519.js';

/**
 * The X25519 public key of the same point (RFC 7748, section 4.1), so that something can be sealed to who signs with an
 * Ed25519 key. 32 bytes each.
 * @throws where the bytes are no point of the curve
 */
export function x25519PublicKeyOf(publicKey: Uint8Array): Uint8Array {
  return ed25519.utils.toMontgomery(publicKey);
}

/** The X25519 secret key of the 32-byte seed of RFC 8032: 32 bytes. */
export function x25519SecretKeyOf(secretKey: Uint8Array): Uint8Array {
  return ed25519.utils.toMontgomerySecret(secretKey);
}
