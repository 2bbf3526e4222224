/** The tokens of an encoding by their ranks. */
export interface TokenTable {
  readonly bytes: Uint8Array;
  /** Token `rank` is `bytes[starts[rank], starts[rank + 1])`; an unused rank is empty. */
  readonly starts: Uint32Array;
}

/** A rank that no token has, with all bits of a hash. */
const EMPTY = -1;
const RANK_BITS = 18;
const RANK = 2 ** RANK_BITS - 1;
const MOST_RANKS = RANK;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The tokens of a byte-pair encoding, found by their bytes without making a string of them. */
export class Vocabulary {
  readonly #bytes: Uint8Array;
  readonly #starts: Uint32Array;
  /** Open addressing: each slot has the rank of a token and the upper bits of its hash, so that few other tokens are compared. */
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** @throws RangeError for more tokens than a slot has room for */
  constructor({ bytes, starts }: TokenTable) {
    const ranks = starts.length - 1;
    if (ranks > MOST_RANKS) throw new RangeError(`A vocabulary has at most ${MOST_RANKS} tokens.`);
    const size = 2 ** Math.ceil(Math.log2(ranks * 2));
    this.#mask = size - 1;
    this.#slots = new Int32Array(size).fill(EMPTY);
    this.#starts = starts;
    this.#bytes = bytes;
    for (let rank = 0; rank < ranks; rank++) this.#insert(rank);
  }

  /** The rank of the token with the bytes `[start, end)`, or -1. */
  rank(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    let slot = slotOf(hash) & this.#mask;
    for (;;) {
      const held = this.#slots[slot] ?? EMPTY;
      if (held === EMPTY) return EMPTY;
      const rank = held & RANK;
      if ((held ^ hash) >>> RANK_BITS === 0 && this.#is(rank, bytes, start, end)) return rank;
      slot = (slot + 1) & this.#mask;
    }
  }

  #insert(rank: number): void {
    const start = this.#starts[rank] ?? 0;
    const end = this.#starts[rank + 1] ?? 0;
    if (start === end) return;
    const hash = hashOf(this.#bytes, start, end);
    let slot = slotOf(hash) & this.#mask;
    while (this.#slots[slot] !== EMPTY) slot = (slot + 1) & this.#mask;
    this.#slots[slot] = (hash & ~RANK) | rank;
  }

  #is(rank: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.#starts[rank] ?? 0;
    if ((this.#starts[rank + 1] ?? 0) - own !== end - start) return false;
    for (let i = start; i < end; i++) if (this.#bytes[own + i - start] !== bytes[i]) return false;
    return true;
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = FNV_OFFSET;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] ?? 0), FNV_PRIME);
  return hash | 0;
}

/** Slot of a hash. It is mixed first, because FNV's low bits are weak for short keys. */
function slotOf(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 7;
}
