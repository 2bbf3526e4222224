import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { didKeyOf, type Ed25519Engine, nodeEngineOf, type Signer, TallyError } from '@tallystick/core';

/** The DER that precedes the 32 bytes of a key (RFC 8410, sections 4 and 7). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

const SECRET_BYTES = 32;

/** Ed25519 in OpenSSL through `node:crypto`, synchronous. */
export const nodeEngine: Ed25519Engine<boolean> = nodeEngineOf({
  createPublicKey: ({ key, ...form }) => createPublicKey({ ...form, key: Buffer.from(key) }),
  verify: (_, message, key, signature) => verify(null, message, key, signature),
});

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
