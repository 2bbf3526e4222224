import { ed25519 } from '@noble/curves/ed25519.js';
import { didKeyOf } from '../did/key.ts';
import { concatBytes, equalBytes, utf8 } from '../encoding/bytes.ts';
import { fromHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';

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

/** Some runtimes add randomness to their signatures, which RFC 8032 does not do. They are passed over. */
async function hasWebCrypto(): Promise<boolean> {
  const [secret, message] = [new Uint8Array(32), utf8('tallystick')];
  try {
    const sign = await webCryptoSign(secret);
    return equalBytes(await sign(message), ed25519.sign(message, secret));
  } catch {
    return false;
  }
}

/** 32 random bytes from the platform's generator: a seed as RFC 8032 means it. */
export function generateSecretKey(): Uint8Array {
  return ed25519.utils.randomSecretKey();
}

/** The 32-byte public key of a 32-byte seed. @throws invalid_secret_key */
export function publicKeyOf(secretKey: Uint8Array): Uint8Array {
  if (secretKey.length !== 32) {
    throw new TallyError('invalid_secret_key', `An Ed25519 secret key is 32 bytes, not ${secretKey.length}.`);
  }
  return ed25519.getPublicKey(secretKey);
}
