import { hash } from 'node:crypto';

/** Bytes of one hash. */
export const HASH_BYTES = 32;

// Reused for each hash and filled by one copy. RFC 9162, 2.1.1 prefixes a byte to a leaf and to two nodes.
const leafPreimage = Buffer.alloc(1 + HASH_BYTES);
const nodePreimage = Buffer.alloc(1 + 2 * HASH_BYTES);
nodePreimage[0] = 0x01;

/** The same bytes as a Buffer, not copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The leaf hashes of concatenated entries of 32 bytes each, concatenated: SHA-256(0x00 || entry). */
export function hashLeaves(entries: Uint8Array): Buffer {
  const source = asBuffer(entries);
  const hashes = Buffer.allocUnsafe(source.length);
  for (let at = 0; at < source.length; at += HASH_BYTES) {
    source.copy(leafPreimage, 1, at, at + HASH_BYTES);
    hashes.write(hash('sha256', leafPreimage, 'binary'), at, 'latin1');
  }
  return hashes;
}

/** The parents of neighbouring hashes, concatenated: SHA-256(0x01 || left || right). An odd last hash has none. */
function hashParents(children: Buffer): Buffer {
  const pairs = Math.floor(children.length / (2 * HASH_BYTES));
  const parents = Buffer.allocUnsafe(pairs * HASH_BYTES);
  for (let pair = 0; pair < pairs; pair++) {
    children.copy(nodePreimage, 1, pair * 2 * HASH_BYTES, (pair + 1) * 2 * HASH_BYTES);
    parents.write(hash('sha256', nodePreimage, 'binary'), pair * HASH_BYTES, 'latin1');
  }
  return parents;
}

/** All perfect subtrees over a tile's hashes: element `h` has those of height `h`. */
export function pyramid(tile: Uint8Array): Buffer[] {
  const levels: Buffer[] = [];
  for (let level = asBuffer(tile); level.length > 0; level = hashParents(level)) levels.push(level);
  return levels;
}

/** The hash at an index of concatenated hashes, as a view of the same bytes. */
export function hashAt(hashes: Uint8Array, place: number): Uint8Array {
  return hashes.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES);
}
