import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex } from '../encoding/hex.ts';

/** The parts of a recoverable ECDSA signature; `yParity` is 0 or 1. */
export interface RecoverableSignature {
  readonly r: bigint;
  readonly s: bigint;
  readonly yParity: bigint;
}

/** The account that signed a 32-byte hash: `0x` and 40 hex in lower case; null if no key can have made the signature. */
export function signerOf(hash: Uint8Array, { r, s, yParity }: RecoverableSignature): string | null {
  try {
    const key = new secp256k1.Signature(r, s, Number(yParity)).recoverPublicKey(hash).toBytes(false);
    return `0x${toHex(keccak_256(key.subarray(1)).subarray(12))}`;
  } catch {
    return null;
  }
}

/** As `signerOf`, for the 65 bytes r || s || v, where v is 0, 1, 27 or 28. */
export function recoverAddress(hash: Uint8Array, signature: Uint8Array): string | null {
  const v = signature[64];
  if (signature.length !== 65 || v === undefined || ![0, 1, 27, 28].includes(v)) return null;
  const number = (from: number): bigint => BigInt(`0x${toHex(signature.subarray(from, from + 32))}`);
  return signerOf(hash, { r: number(0), s: number(32), yParity: BigInt(v % 27) });
}
