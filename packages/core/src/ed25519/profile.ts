import { fromHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';

/**
 * The raw cofactorless check [S]B = R + [k]A (RFC 8032, section 5.1.7), where k = SHA-512(R || A || M) mod L.
 * It is only called after the encoding checks of the profile. It answers false, and does not throw, when A is
 * not on the curve. The arrays must not change until it has answered. Engines may be called concurrently.
 */
export interface Ed25519Engine<Verdict extends boolean | Promise<boolean> = boolean | Promise<boolean>> {
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Verdict;
}

/** The y coordinates of the eight points of small order, little-endian: two of them share each of the last three. */
const smallOrderYs = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map((hex) => fromHex(hex, 32));

/** 2^255 - 19, little-endian. */
const fieldPrime = fromHex('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 32);

/** L, the order of the base point, little-endian. */
const groupOrder = fromHex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010', 32);

/**
 * Verifies an Ed25519 signature under one profile, stricter than any one library and the same on every runtime:
 * the public key is 32 bytes and the signature 64, A and R are canonical and not of small order, S < L, and the
 * cofactorless equation holds. Bad input is false, never an exception. The verdict is a promise only when the
 * engine's is.
 */
export function verifyEd25519<Verdict extends boolean | Promise<boolean>>(
  engine: Ed25519Engine<Verdict>,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Verdict | false {
  if (publicKeyFault(publicKey) !== undefined) return false;
  if (signatureFault(signature) !== undefined) return false;
  return engine.verify(publicKey, message, signature);
}

/**
 * Returns whether a public key's encoding is one that the profile accepts. It is not decompressed: no signature
 * verifies under a key that is not on the curve.
 * @throws invalid_public_key
 */
export function checkPublicKey(publicKey: Uint8Array): void {
  const fault = publicKeyFault(publicKey);
  if (fault !== undefined) throw new TallyError('invalid_public_key', `The Ed25519 public key ${fault}.`);
}

/** Returns what is wrong with a public key's encoding, as the end of a sentence about it. */
export function publicKeyFault(publicKey: Uint8Array): string | undefined {
  return publicKey.length === 32 ? pointFault(publicKey) : `has ${publicKey.length} bytes, not 32`;
}

/** Returns what is wrong with a signature's encoding, as the end of a sentence about it. */
export function signatureFault(signature: Uint8Array): string | undefined {
  if (signature.length !== 64) return `has ${signature.length} bytes, not 64`;
  if (!isBelow(signature.subarray(32), groupOrder, 0xff)) return 'has an S that is not below the group order';
  const fault = pointFault(signature.subarray(0, 32));
  return fault === undefined ? undefined : `has an R that ${fault}`;
}

/**
 * RFC 8032, section 5.1.3 refuses y >= p, and x = 0 with the sign bit set; the latter has y = 1 or y = -1, so
 * the check of small order refuses it as well.
 */
function pointFault(point: Uint8Array): string | undefined {
  if (!isBelow(point, fieldPrime, 0x7f)) return 'is not canonical';
  return smallOrderYs.some((y) => hasY(point, y)) ? 'is of small order' : undefined;
}

/** Returns whether 32 little-endian bytes, the last one masked, are a number below `bound`. */
function isBelow(bytes: Uint8Array, bound: Uint8Array, lastMask: number): boolean {
  for (let index = 31; index >= 0; index--) {
    const byte = (bytes[index] ?? 0) & (index === 31 ? lastMask : 0xff);
    const limit = bound[index] ?? 0;
    if (byte !== limit) return byte < limit;
  }
  return false;
}

function hasY(point: Uint8Array, y: Uint8Array): boolean {
  for (let index = 0; index < 31; index++) if (point[index] !== y[index]) return false;
  return ((point[31] ?? 0) & 0x7f) === y[31];
}
