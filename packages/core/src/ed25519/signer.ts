import { ed25519 } from '@noble/curves/ed25519.js';
import { didKeyOf } from '../did/key.ts';
import { concatBytes, equalBytes, utf8 } from '../encoding/bytes.ts';
import { fromHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { nodeCrypto } from './engines.ts';

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
 * A signer over its own copy of the secret: by WebCrypto where it has Ed25519, else in pure JavaScript. Both give the same
 * signatures.
 * @param secretKey the 32-byte seed of RFC 8032
 * @throws invalid_secret_key
 */
export async function createSigner(secretKey: Uint8Array): Promise<Signer> {
  const publicKey = publicKeyOf(secretKey);
  const secret = Uint8Array.from(secretKey);
  webCryptoSigns ??= hasWebCrypto();
  const sign = (await webCryptoSigns) ? await webCryptoSign(secret) : nobleSign(secret);
  return { keyId: didKeyOf(publicKey), publicKey, sign };
}

type Sign = Signer['sign'];

/** Whether WebCrypto signs as RFC 8032 says, which is tried once. */
let webCryptoSigns: Promise<boolean> | undefined;

/** The DER that precedes the 32 bytes of a secret key (RFC 8410, section 7). */
const pkcs8Prefix = fromHex('302e020100300506032b657004220420');

/** Rejects where the runtime has no Ed25519 or is no secure context. */
async function webCryptoSign(secret: Uint8Array): Promise<Sign> {
  const { subtle } = globalThis.crypto;
  const der = Uint8Array.from(concatBytes(pkcs8Prefix, secret));
  const key = await subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign']);
  return async (message) => new Uint8Array(await subtle.sign('Ed25519', key, Uint8Array.from(message)));
}

function nobleSign(secret: Uint8Array): Sign {
  return async (message) => ed25519.sign(message, secret);
}

/** The signature of the text `tallystick` by a secret of 32 zero bytes. */
const knownSignature = fromHex(
  'db698a7ab846292b7cc29c522b043025c434f628b1a0b0c2acb2d3c7e9032641' +
    '94451b201d72ef37fe6631cb956b59d70f5a355513ad891c161c8159f876b005',
  64,
);

/** Some runtimes add randomness to their signatures, which RFC 8032 does not do. They are passed over. */
async function hasWebCrypto(): Promise<boolean> {
  try {
    const sign = await webCryptoSign(new Uint8Array(32));
    return equalBytes(await sign(utf8('tallystick')), knownSignature);
  } catch {
    return false;
  }
}

/** 32 random bytes from the platform's generator: a seed as RFC 8032 means it. */
export function generateSecretKey(): Uint8Array {
  return ed25519.utils.randomSecretKey();
}

/** The part of `node:crypto` that knows the public key of a secret one. */
interface NodeCrypto {
  createPrivateKey(der: { readonly key: Uint8Array; readonly format: 'der'; readonly type: 'pkcs8' }): object;
  createPublicKey(key: object): { export(as: { format: 'der'; type: 'spki' }): Uint8Array };
}

/** The 32-byte public key of a 32-byte seed. @throws invalid_secret_key */
export function publicKeyOf(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== 32) {
    throw new TallyError('invalid_secret_key', `An Ed25519 secret key is 32 bytes, not ${secretKey.length}.`);
  }
  return nodePublicKey(secretKey) ?? ed25519.getPublicKey(secretKey);
}

/** By OpenSSL, without the 80 ms that the library in JavaScript needs for its tables; undefined where there is none. */
function nodePublicKey(secretKey: Uint8Array): Uint8Array | undefined {
  const crypto = nodeCrypto() as NodeCrypto | undefined;
  if (crypto === undefined) return undefined;
  try {
    const der = concatBytes(pkcs8Prefix, secretKey);
    const key = crypto.createPublicKey(crypto.createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
    return Uint8Array.from(key.export({ format: 'der', type: 'spki' }).subarray(-32));
  } catch {
    // A runtime may have the module without the curve.
    return undefined;
  }
}
