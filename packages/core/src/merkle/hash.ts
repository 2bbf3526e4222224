import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';

/** Bytes in every hash of the tree. */
const HASH_LENGTH = 32;

// These buffers are used again for each hash: to allocate them would cost as much as to hash them.
const leafPreimage = new Uint8Array(1 + 255);
const nodePreimage = new Uint8Array(1 + 2 * HASH_LENGTH);
nodePreimage[0] = 0x01;

/** Returns whether `value` is a SHA-256 hash by shape: a `Uint8Array` of exactly 32 bytes. */
export function isHash(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === HASH_LENGTH;
}

/** The hash of a leaf: SHA-256(0x00 || data), 32 bytes (RFC 9162, 2.1.1). `data` may be of any length. */
export function leafHash(data: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  const length = 1 + data.length;
  const preimage = length <= leafPreimage.length ? leafPreimage.subarray(0, length) : new Uint8Array(length);
  preimage.set(data, 1);
  return hash(preimage);
}

/**
 * The hash of an inner node: SHA-256(0x01 || left || right), 32 bytes (RFC 9162, 2.1.1).
 * Throws `invalid_field` unless both children are 32 bytes, without which two trees could share a root.
 */
export function nodeHash(left: Uint8Array, right: Uint8Array, hash: Sha256 = sha256): Uint8Array {
  if (!isHash(left) || !isHash(right)) {
    throw new TallyError('invalid_field', 'A node of a Merkle tree has two children of 32 bytes.');
  }
  nodePreimage.set(left, 1);
  nodePreimage.set(right, 1 + HASH_LENGTH);
  return hash(nodePreimage);
}

/** The root of the tree without leaves: SHA-256 of no bytes (RFC 9162, 2.1.1). */
export function emptyRoot(): Uint8Array {
  return sha256(new Uint8Array(0));
}

/**
 * The hash of a run of leaves, from the hashes of the perfect subtrees that make it up, largest (leftmost)
 * first: each is joined with the hash of everything to its right. `emptyRoot()` for none.
 */
export function foldNodes(hashes: readonly Uint8Array[], hash: Sha256 = sha256): Uint8Array {
  if (hashes.length === 0) return emptyRoot();
  return hashes.reduceRight((right, left) => nodeHash(left, right, hash)).slice();
}
