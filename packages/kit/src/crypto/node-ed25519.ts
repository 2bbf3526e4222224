import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { didKeyOf, type Ed25519Engine, type Signer, TallyError } from '@tallystick/core';

/** The DER that precedes the 32 bytes of a key (RFC 8410, sections 4 and 7). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

const SECRET_BYTES = 32;

/** Making a key object from DER takes a good part of a whole check, so the keys used last are cached. */
const rememberedKeys = 4096;
const keyObjects = new Map<string, KeyObject>();

/** Ed25519 in OpenSSL through `node:crypto`, synchronous. It caches the 4,096 public keys used last. */
export const nodeEngine: Ed25519Engine<boolean> = {
  verify: (publicKey, message, signature) => verify(null, message, keyObjectOf(publicKey), signature),
};

/** A signer that holds the key in OpenSSL. @param secretKey the 32-byte seed of RFC 8032 @throws invalid_secret_key */
export function nodeSigner(secretKey: Uint8Array): Signer {
  if (secretKey.length !== SECRET_BYTES)
    throw new TallyError('invalid_secret_key', `An Ed25519 secret key is 32 bytes, not ${secretKey.length}.`);
  const der = Buffer.concat([pkcs8Prefix, secretKey]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const publicKey = Uint8Array.from(spki.subarray(spkiPrefix.length));
  return {
    keyId: didKeyOf(publicKey),
    publicKey,
    sign: async (message) => Uint8Array.from(sign(null, message, key)),
  };
}

function keyObjectOf(publicKey: Uint8Array): KeyObject {
  const id = Buffer.from(publicKey).toString('latin1');
  const known = keyObjects.get(id);
  const key =
    known ?? createPublicKey({ key: Buffer.concat([spkiPrefix, publicKey]), format: 'der', type: 'spki' });
  keyObjects.delete(id);
  keyObjects.set(id, key);
  if (keyObjects.size > rememberedKeys) forgetOldest();
  return key;
}

function forgetOldest(): void {
  const [oldest] = keyObjects.keys();
  if (oldest !== undefined) keyObjects.delete(oldest);
}
