import {
  concatBytes,
  createSigner as createWebSigner,
  didKeyOf,
  fromHex,
  nodeCrypto,
  publicKeyOf,
  type Signer,
} from '@tallystick/core';

/** The part of `node:crypto` that signs. */
interface NodeCrypto {
  createPrivateKey(der: { readonly key: Uint8Array; readonly format: 'der'; readonly type: 'pkcs8' }): object;
  sign(algorithm: null, message: Uint8Array, key: object): Uint8Array;
}

/** The DER that precedes the 32 bytes of a secret key (RFC 8410, section 7). */
const pkcs8Prefix = fromHex('302e020100300506032b657004220420');

/**
 * A signer over its own copy of the secret: by OpenSSL in Node and whatever has its modules, elsewhere by WebCrypto, and in pure
 * JavaScript where that has no Ed25519. All give the same signatures.
 * @param secretKey the 32-byte seed of RFC 8032
 * @throws invalid_secret_key
 */
export async function createSigner(secretKey: Uint8Array): Promise<Signer> {
  const crypto = nodeCrypto() as NodeCrypto | undefined;
  if (crypto === undefined) return createWebSigner(secretKey);
  const publicKey = publicKeyOf(secretKey);
  const der = concatBytes(pkcs8Prefix, secretKey);
  const key = crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    keyId: didKeyOf(publicKey),
    publicKey,
    sign: async (message) => Uint8Array.from(crypto.sign(null, message, key)),
  };
}
