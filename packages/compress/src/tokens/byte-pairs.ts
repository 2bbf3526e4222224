import type { Vocabulary } from './vocabulary.ts';

const NONE = 2 ** 30;
const SMALL = 128;
/** A heap key is `rank * STEP + position`, so that the lowest rank comes first, and of equal ranks the leftmost. */
const STEP = 2 ** 31;

const pairRanks = new Int32Array(SMALL + 1);
const partStarts = new Int32Array(SMALL + 2);

/**
 * Returns how many tokens byte-pair merging makes of `bytes`: each step merges the adjacent pair of the lowest rank,
 * the leftmost of equals. O(n log n), since a document may be one word of a megabyte.
 */
export function countMerged(vocabulary: Vocabulary, bytes: Uint8Array): number {
  return bytes.length <= SMALL ? countSmall(vocabulary, bytes) : countLarge(vocabulary, bytes);
}

/** Counts by scanning for the lowest rank: quadratic, but the fastest way for a word. */
function countSmall(vocabulary: Vocabulary, bytes: Uint8Array): number {
  let parts = bytes.length;
  for (let i = 0; i <= parts; i++) partStarts[i] = i;
  const rankAt = (i: number): number => {
    if (i + 2 > parts) return NONE;
    const rank = vocabulary.rank(bytes, partStarts[i] ?? 0, partStarts[i + 2] ?? 0);
    return rank < 0 ? NONE : rank;
  };
  for (let i = 0; i < parts; i++) pairRanks[i] = rankAt(i);
  for (;;) {
    let best = NONE;
    let at = -1;
    for (let i = 0; i < parts - 1; i++) {
      const rank = pairRanks[i] ?? NONE;
      if (rank < best) {
        best = rank;
        at = i;
      }
    }
    if (at < 0) return parts;
    partStarts.copyWithin(at + 1, at + 2, parts + 1);
    pairRanks.copyWithin(at, at + 1, parts);
    parts--;
    pairRanks[at] = rankAt(at);
    if (at > 0) pairRanks[at - 1] = rankAt(at - 1);
  }
}

/** Counts with a heap of pairs over a linked list of parts; an entry whose pair has changed since is skipped. */
function countLarge(vocabulary: Vocabulary, bytes: Uint8Array): number {
  const { length } = bytes;
  const next = new Int32Array(length + 1);
  const previous = new Int32Array(length + 1);
  const ranks = new Int32Array(length + 1).fill(NONE);
  const heap = new Heap(length * 3);
  let parts = length;
  const refresh = (i: number): void => {
    const second = next[i] ?? length;
    if (second >= length) {
      ranks[i] = NONE;
      return;
    }
    const rank = vocabulary.rank(bytes, i, next[second] ?? length);
    ranks[i] = rank < 0 ? NONE : rank;
    if (rank >= 0) heap.push(rank * STEP + i);
  };
  for (let i = 0; i <= length; i++) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  for (let i = 0; i < length - 1; i++) refresh(i);
  for (let key = heap.pop(); key >= 0; key = heap.pop()) {
    const i = key % STEP;
    if (ranks[i] !== (key - i) / STEP) continue;
    const gone = next[i] ?? length;
    const after = next[gone] ?? length;
    next[i] = after;
    previous[after] = i;
    ranks[gone] = NONE;
    parts--;
    refresh(i);
    const before = previous[i] ?? -1;
    if (before >= 0) refresh(before);
  }
  return parts;
}

/** A binary min-heap of non-negative numbers. Each merge pushes at most two, so its capacity is known in advance. */
class Heap {
  readonly #keys: Float64Array;
  #size = 0;

  constructor(capacity: number) {
    this.#keys = new Float64Array(capacity);
  }

  push(key: number): void {
    const keys = this.#keys;
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = keys[parent] ?? 0;
      if (above <= key) break;
      keys[at] = above;
      at = parent;
    }
    keys[at] = key;
  }

  /** Removes and returns the smallest number; -1 if the heap is empty. */
  pop(): number {
    if (this.#size === 0) return -1;
    const keys = this.#keys;
    const top = keys[0] ?? -1;
    const last = keys[--this.#size] ?? 0;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && (keys[child + 1] ?? 0) < (keys[child] ?? 0)) child++;
      const below = keys[child] ?? 0;
      if (below >= last) break;
      keys[at] = below;
      at = child;
    }
    keys[at] = last;
    return top;
  }
}
