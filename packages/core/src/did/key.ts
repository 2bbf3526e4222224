import { checkPublicKey } from '../ed25519/profile.ts';
import { concatBytes } from '../encoding/bytes.ts';
import { fromMultibase, toMultibase } from '../encoding/multibase.ts';
import { TallyError } from '../errors.ts';

/** The multicodec of an Ed25519 public key, 0xed, as a varint. */
const ed25519Prefix = Uint8Array.of(0xed, 0x01);

const scheme = 'did:key:';

/** The did:key of a 32-byte Ed25519 public key (W3C CCG did:key, section 3.1). @throws invalid_public_key */
export function didKeyOf(publicKey: Uint8Array): string {
  return scheme + toMultikey(publicKey);
}

/**
 * The 32-byte Ed25519 public key that a did:key is.
 * @throws invalid_did for other key types, other encodings and keys that the Ed25519 profile refuses
 */
export function publicKeyOfDidKey(did: string): Uint8Array {
  if (!did.startsWith(scheme)) throw new TallyError('invalid_did', 'Expected a did:key.');
  try {
    return fromMultikey(did.slice(scheme.length));
  } catch (cause) {
    throw new TallyError('invalid_did', 'The did:key does not hold an acceptable Ed25519 key.', { cause });
  }
}

/** The Multikey text of an Ed25519 public key: multibase over the multicodec and the key. @throws invalid_public_key */
export function toMultikey(publicKey: Uint8Array): string {
  checkPublicKey(publicKey);
  return toMultibase(concatBytes(ed25519Prefix, publicKey));
}

/** The 32-byte Ed25519 public key of Multikey text. @throws invalid_multibase, invalid_public_key */
export function fromMultikey(text: string): Uint8Array {
  const bytes = fromMultibase(text);
  if (bytes[0] !== ed25519Prefix[0] || bytes[1] !== ed25519Prefix[1]) {
    throw new TallyError('invalid_public_key', 'The multicodec is not that of an Ed25519 public key.');
  }
  const publicKey = bytes.slice(ed25519Prefix.length);
  checkPublicKey(publicKey);
  return publicKey;
}
