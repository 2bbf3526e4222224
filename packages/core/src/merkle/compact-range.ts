import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { foldNodes, isHash } from './hash.ts';
import { isTreeSize } from './subtree.ts';

/** State of a `CompactRange`: `hashes` are of its perfect subtrees, largest (leftmost) first. */
export interface CompactRangeState {
  size: number;
  hashes: readonly Uint8Array[];
}

/** One perfect subtree for each set bit of `size`. */
function subtreeCount(size: number): number {
  let count = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
}

/** Returns how many perfect subtrees the next leaf completes: as many as an increment of `size` carries. */
function trailingOnes(size: number): number {
  let count = 0;
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) count += 1;
  return count;
}

/**
 * The right edge of an RFC 6962 tree that grows leaf by leaf: at most 53 hashes for up to 2^53-1 leaves,
 * so a tree of any size streams in bounded memory.
 */
export class CompactRange {
  #size: number;
  readonly #hashes: Uint8Array[];
  readonly #sha256: Sha256;

  /**
   * Starts empty, or where `state()` left off. Throws `merkle_range` when size and hashes disagree.
   * @param hash joins the nodes; core's own SHA-256 when absent
   */
  constructor(state: CompactRangeState = { size: 0, hashes: [] }, hash: Sha256 = sha256) {
    const { size, hashes } = state;
    if (!isTreeSize(size) || hashes.length !== subtreeCount(size) || !hashes.every(isHash)) {
      throw new TallyError(
        'merkle_range',
        'A compact range has one 32-byte hash for each set bit of its size.',
      );
    }
    this.#size = size;
    this.#sha256 = hash;
    this.#hashes = hashes.map((hash) => hash.slice());
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds one leaf by its 32-byte leaf hash (`leafHash`), which is copied.
   * Throws `invalid_field` for another length and `merkle_range` past 2^53-1 leaves.
   */
  append(leafHash: Uint8Array): void {
    if (!isHash(leafHash)) throw new TallyError('invalid_field', 'A leaf hash is 32 bytes.');
    if (!isTreeSize(this.#size + 1))
      throw new TallyError('merkle_range', 'A tree has at most 2^53-1 leaves.');
    const completed = this.#hashes.splice(this.#hashes.length - trailingOnes(this.#size));
    this.#hashes.push(foldNodes([...completed, leafHash], this.#sha256));
    this.#size += 1;
  }

  /** The RFC 6962 root of the leaves so far, 32 bytes. */
  root(): Uint8Array {
    return foldNodes(this.#hashes, this.#sha256);
  }

  /** A copy of all that is needed to go on later. */
  state(): CompactRangeState {
    return { size: this.#size, hashes: this.#hashes.map((hash) => hash.slice()) };
  }
}
