import { ghash } from '@noble/ciphers/_polyval.js';
import { ecb } from '@noble/ciphers/aes.js';
import { concatBytes, equalBytes } from './encoding/bytes.ts';

const BLOCK = 16;

/** AES-GCM under one key, nonce and AAD; `decrypt` throws where the 16-byte tag is wrong or missing. */
export type GcmCipher = Record<'encrypt' | 'decrypt', (data: Uint8Array) => Uint8Array>;

/**
 * AES-GCM for the nonces of 1 to 7 bytes that noble's `gcm` refuses (NIST SP 800-38D, 7.1 and 7.2). The
 * caller checks the lengths of key and nonce.
 */
export function gcmShortNonce(key: Uint8Array, nonce: Uint8Array, aad: Uint8Array): GcmCipher {
  const hashKey = keystream(key, new Uint8Array(BLOCK), 0, BLOCK);
  const j0 = hashOf(hashKey, new Uint8Array(0), nonce);
  const crypt = (data: Uint8Array) => xor(data, keystream(key, j0, 1, data.length));
  const tagOf = (ciphertext: Uint8Array) =>
    xor(hashOf(hashKey, aad, ciphertext), keystream(key, j0, 0, BLOCK));
  return {
    encrypt(plaintext) {
      const ciphertext = crypt(plaintext);
      return concatBytes(ciphertext, tagOf(ciphertext));
    },
    decrypt(sealed) {
      const ciphertext = sealed.subarray(0, -BLOCK);
      if (!equalBytes(tagOf(ciphertext), sealed.subarray(-BLOCK))) throw new Error('invalid tag');
      return crypt(ciphertext);
    },
  };
}

/** GHASH of both parts, each zero-padded to whole blocks, and of their lengths in bits. */
function hashOf(hashKey: Uint8Array, first: Uint8Array, second: Uint8Array): Uint8Array {
  const lengths = new DataView(new ArrayBuffer(BLOCK));
  lengths.setBigUint64(0, BigInt(first.length) * 8n);
  lengths.setBigUint64(8, BigInt(second.length) * 8n);
  return ghash.create(hashKey).update(first).update(second).update(new Uint8Array(lengths.buffer)).digest();
}

/** `length` bytes, to whole blocks, from `j0` + `from` on; only its last 32 bits count, and wrap (6.2). */
function keystream(key: Uint8Array, j0: Uint8Array, from: number, length: number): Uint8Array {
  const blocks = new Uint8Array(Math.ceil(length / BLOCK) * BLOCK);
  const view = new DataView(blocks.buffer);
  for (let at = 0; at < blocks.length; at += BLOCK) {
    blocks.set(j0, at);
    view.setUint32(at + 12, view.getUint32(at + 12) + from + at / BLOCK);
  }
  return ecb(key, { disablePadding: true }).encrypt(blocks);
}

function xor(data: Uint8Array, mask: Uint8Array): Uint8Array {
  return data.map((byte, at) => byte ^ (mask[at] ?? 0));
}
