import {
  concatBytes,
  fromBase64url,
  fromHex,
  toBase64url,
  toMultibase,
} from '../../packages/core/src/index.ts';

/** Signatures and keys that some library accepts and the profile (spec/signatures.md) refuses. */

/** The neutral element, a point of order 1. */
const identity = fromHex('0100000000000000000000000000000000000000000000000000000000000000', 32);
/** y = p + 1: the neutral element, encoded out of range. */
const outOfRange = fromHex('eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 32);
const basePoint = fromHex('5866666666666666666666666666666666666666666666666666666666666666', 32);
const one = fromHex('0100000000000000000000000000000000000000000000000000000000000000', 32);
/** L, the order of the base point. */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** A key under which `universalSignature` satisfies the equation for every message. */
export const smallOrderKey = {
  publicKey: toBase64url(identity),
  keyId: `did:key:${toMultibase(concatBytes(Uint8Array.of(0xed, 0x01), identity))}`,
};
export const universalSignature = toBase64url(concatBytes(basePoint, one));

/** The same signature with S + L in place of S. */
export function withLargeS(signature: string): string {
  const bytes = fromBase64url(signature, 64);
  const s = bytes.subarray(32).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n) + groupOrder;
  const large = Uint8Array.from({ length: 32 }, (_, index) => Number((s >> BigInt(8 * index)) & 0xffn));
  return toBase64url(concatBytes(bytes.subarray(0, 32), large));
}

export function withSmallOrderR(signature: string): string {
  return toBase64url(concatBytes(identity, fromBase64url(signature, 64).subarray(32)));
}

export function withNonCanonicalR(signature: string): string {
  return toBase64url(concatBytes(outOfRange, fromBase64url(signature, 64).subarray(32)));
}

/** The same bytes to a lenient decoder, because only the lowest spare bit of the last character is set. */
export function withSpareBits(text: string): string {
  const last = ALPHABET.indexOf(text.slice(-1));
  return text.slice(0, -1) + ALPHABET.charAt(last | 1);
}
