import { TallyError } from '@tallystick/core';

/** The DER that precedes the 32 bytes of an Ed25519 public key (RFC 8410, section 4). */
const PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** The 32 bytes of a DER SubjectPublicKeyInfo. @throws unavailable where it is of another algorithm */
export function ed25519OfSpki(der: Uint8Array, name: string): Uint8Array {
  if (der.length === PREFIX.length + 32 && PREFIX.equals(der.subarray(0, PREFIX.length)))
    return Uint8Array.from(der.subarray(PREFIX.length));
  throw new TallyError('unavailable', `${name} is not an Ed25519 key.`);
}
