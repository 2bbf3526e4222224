import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { toHex } from './encoding/hex.ts';

/** SHA-256 of the platform, faster than in JavaScript. It returns 32 new bytes and does not keep the bytes given. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** SHA-256 (FIPS 180-4): 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return nobleSha256(bytes);
}

/** SHA-256 of bytes that arrive in parts. */
export interface RunningSha256 {
  update(bytes: Uint8Array): RunningSha256;
  /** The hash as 64 lower-case hex characters; nothing can be added after it. */
  hex(): string;
}

export function newSha256(): RunningSha256 {
  const state = nobleSha256.create();
  const running: RunningSha256 = {
    update(bytes) {
      state.update(bytes);
      return running;
    },
    hex: () => toHex(state.digest()),
  };
  return running;
}

/** SHA-256 as 64 lower-case hex characters. */
export function sha256Hex(bytes: Uint8Array): string {
  return toHex(nobleSha256(bytes));
}

/** HMAC-SHA-256 (RFC 2104): 32 bytes. */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(nobleSha256, key, message);
}

/** HKDF-SHA-256 (RFC 5869), extract and expand: `length` bytes, at most 8,160. */
export function hkdfSha256(
  inputKey: Uint8Array,
  salt: Uint8Array,
  info: Uint8Array,
  length: number,
): Uint8Array {
  return hkdf(nobleSha256, inputKey, salt, info, length);
}
