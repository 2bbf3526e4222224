import { concatBytes } from '../encoding/bytes.ts';
import { fromHex } from '../encoding/hex.ts';
import type { Ed25519Engine } from './profile.ts';

/** The part of `node:crypto` that verifies. */
export interface NodeCrypto<Key> {
  createPublicKey(der: { readonly key: Uint8Array; readonly format: 'der'; readonly type: 'spki' }): Key;
  verify(algorithm: null, message: Uint8Array, key: Key, signature: Uint8Array): boolean;
}

/** The DER that precedes the 32 bytes of a public key (RFC 8410, section 4). */
const SPKI_PREFIX = '302a300506032b6570032100';

const REMEMBERED_KEYS = 4096;

/**
 * Engine over OpenSSL as Node offers it, synchronous. Making a key object from DER takes a good part of a whole check, so the
 * 4,096 used last are remembered.
 */
export function nodeEngineOf<Key>(crypto: NodeCrypto<Key>): Ed25519Engine<boolean> {
  /** Key objects by the characters of the key's bytes; the one used last is at the end. */
  const keys = new Map<string, Key>();
  const prefix = fromHex(SPKI_PREFIX);
  const keyObjectOf = (publicKey: Uint8Array): Key => {
    const id = String.fromCharCode(...publicKey);
    const der = (): Uint8Array => concatBytes(prefix, publicKey);
    const key = keys.get(id) ?? crypto.createPublicKey({ key: der(), format: 'der', type: 'spki' });
    keys.delete(id);
    keys.set(id, key);
    const [oldest] = keys.size > REMEMBERED_KEYS ? keys.keys() : [];
    if (oldest !== undefined) keys.delete(oldest);
    return key;
  };
  return {
    verify: (publicKey, message, signature) =>
      crypto.verify(null, message, keyObjectOf(publicKey), signature),
  };
}
