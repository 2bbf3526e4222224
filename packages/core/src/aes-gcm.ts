import { gcm } from '@noble/ciphers/aes.js';
import { TallyError } from './errors.ts';

/** Bytes of the authentication tag at the end of every ciphertext. */
export const AES_GCM_TAG_LENGTH = 16;

const KEY_LENGTH = 32;
const NONCE_LENGTH = 12;

/** One operation's input, copied so that the caller can't change it while WebCrypto is at work. */
interface Operation {
  key: Uint8Array<ArrayBuffer>;
  nonce: Uint8Array<ArrayBuffer>;
  aad: Uint8Array<ArrayBuffer>;
  data: Uint8Array<ArrayBuffer>;
}

function operation(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array, data: Uint8Array): Operation {
  if (key.length !== KEY_LENGTH) {
    throw new TallyError('invalid_field', 'An AES-256 key is 32 bytes.', { field: 'key' });
  }
  if (nonce.length !== NONCE_LENGTH) {
    throw new TallyError('invalid_field', 'An AES-GCM nonce is 12 bytes.', { field: 'nonce' });
  }
  return {
    key: new Uint8Array(key),
    nonce: new Uint8Array(nonce),
    aad: new Uint8Array(aad),
    data: new Uint8Array(data),
  };
}

/** The runtime’s `crypto.subtle`; `undefined` in browsers outside secure origins. */
const webCrypto = (): SubtleCrypto | undefined =>
  (globalThis as { crypto?: { subtle?: SubtleCrypto } }).crypto?.subtle;

function algorithm({ nonce, aad }: Operation): AesGcmParams {
  return { name: 'AES-GCM', iv: nonce, additionalData: aad };
}

const nobleCipher = ({ key, nonce, aad }: Operation): ReturnType<typeof gcm> => gcm(key, nonce, aad);

/**
 * AES-256-GCM with a 128-bit tag (NIST SP 800-38D): the ciphertext followed by its 16-byte tag. `key` is 32 bytes, `nonce` 12
 * and never used twice with one key. Throws `invalid_field` for other lengths, on every runtime alike.
 */
export async function aesGcmEncrypt(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  plaintext: Uint8Array,
): Promise<Uint8Array> {
  const input = operation(key, nonce, aad, plaintext);
  const subtle = webCrypto();
  if (subtle === undefined) return nobleCipher(input).encrypt(input.data);
  const cryptoKey = await subtle.importKey('raw', input.key, 'AES-GCM', false, ['encrypt']);
  return new Uint8Array(await subtle.encrypt(algorithm(input), cryptoKey, input.data));
}

/**
 * The plaintext of what `aesGcmEncrypt` made, or `undefined` when the tag does not authenticate it under
 * this key, nonce and `aad`. Throws `invalid_field` for lengths that `aesGcmEncrypt` refuses.
 */
export async function aesGcmDecrypt(
  key: Uint8Array,
  nonce: Uint8Array,
  aad: Uint8Array,
  ciphertext: Uint8Array,
): Promise<Uint8Array | undefined> {
  const input = operation(key, nonce, aad, ciphertext);
  const subtle = webCrypto();
  return subtle === undefined ? decryptWithNoble(input) : decryptWithWebCrypto(subtle, input);
}

function decryptWithNoble(input: Operation): Uint8Array | undefined {
  const cipher = nobleCipher(input);
  try {
    return cipher.decrypt(input.data);
  } catch {
    // key and nonce were checked before, so an untyped error can only be about the tag
    return undefined;
  }
}

async function decryptWithWebCrypto(subtle: SubtleCrypto, input: Operation): Promise<Uint8Array | undefined> {
  const cryptoKey = await subtle.importKey('raw', input.key, 'AES-GCM', false, ['decrypt']);
  try {
    return new Uint8Array(await subtle.decrypt(algorithm(input), cryptoKey, input.data));
  } catch (error) {
    if (error instanceof DOMException && error.name === 'OperationError') return undefined;
    throw error;
  }
}
