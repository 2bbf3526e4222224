const HASH_LENGTH = 32;
const PARTS = 256;
const SEGMENT_HASHES = 4096;
const FIRST_SLOTS = 16;
const MAX_LOAD = 0.75;
const POSITION_BITS = 24;
const POSITION_MASK = 2 ** POSITION_BITS - 1;

/** The table of every part that is still empty. */
const noSlots = new Uint32Array(0);

/**
 * A set of up to 2^24 - 1 hashes of 32 bytes, compared whole: at most 44 bytes each once there are many. The
 * hashes are stored one after the other; open-addressing tables hold their positions. There are 256 small tables
 * instead of one large table, so that no growth blocks the thread for more than milliseconds.
 *
 * A caller chooses the hashes, so slots come from simple tabulation hashing (Zobrist 1970; Pătraşcu and
 * Thorup 2012) with random tables: nobody can choose hashes that collide.
 */
export class HashSet {
  readonly #randomWords = crypto.getRandomValues(new Uint32Array(HASH_LENGTH * 2 * 16));
  readonly #segments: Uint8Array[] = [];
  /** A slot is 0 when free, else the hash's position, counted from 1, under 8 bits of its mixed hash. */
  readonly #tables = Array.from({ length: PARTS }, () => noSlots);
  readonly #counts = new Uint32Array(PARTS);
  #size = 0;

  /** Adds a hash. Returns false, and changes nothing, when the set has it already. */
  add(hash: Uint8Array): boolean {
    const mixed = this.#mix(hash, 0);
    const part = mixed % PARTS;
    const table = this.#roomyTable(part);
    const slot = this.#find(table, mixed, hash);
    if (table[slot] !== 0) return false;
    this.#size += 1;
    this.#segment(this.#size).set(hash, offsetOf(this.#size));
    table[slot] = entryOf(mixed, this.#size);
    this.#counts[part] = (this.#counts[part] as number) + 1;
    return true;
  }

  /** The slot that holds the hash, or the free one where it belongs. */
  #find(table: Uint32Array, mixed: number, hash: Uint8Array): number {
    let slot = firstSlot(table, mixed);
    for (let entry = table[slot] as number; entry !== 0; entry = table[slot] as number) {
      if (entry >>> POSITION_BITS === mixed >>> POSITION_BITS && this.#holds(entry & POSITION_MASK, hash))
        return slot;
      slot = (slot + 1) & (table.length - 1);
    }
    return slot;
  }

  #holds(position: number, hash: Uint8Array): boolean {
    const segment = this.#segment(position);
    const offset = offsetOf(position);
    for (let index = 0; index < HASH_LENGTH; index++) {
      if (segment[offset + index] !== hash[index]) return false;
    }
    return true;
  }

  #segment(position: number): Uint8Array {
    const index = Math.floor((position - 1) / SEGMENT_HASHES);
    const segment = this.#segments[index] ?? new Uint8Array(SEGMENT_HASHES * HASH_LENGTH);
    this.#segments[index] = segment;
    return segment;
  }

  /** The part's table with room for one more. */
  #roomyTable(part: number): Uint32Array {
    const table = this.#tables[part] as Uint32Array;
    if ((this.#counts[part] as number) < table.length * MAX_LOAD) return table;
    const larger = new Uint32Array(Math.max(FIRST_SLOTS, table.length * 2));
    for (const entry of table) {
      if (entry === 0) continue;
      const position = entry & POSITION_MASK;
      const mixed = this.#mix(this.#segment(position), offsetOf(position));
      let slot = firstSlot(larger, mixed);
      while (larger[slot] !== 0) slot = (slot + 1) & (larger.length - 1);
      larger[slot] = entry;
    }
    this.#tables[part] = larger;
    return larger;
  }

  /** 32 bits that depend on every nibble of the hash at `offset`. */
  #mix(bytes: Uint8Array, offset: number): number {
    const words = this.#randomWords;
    let mixed = 0;
    for (let index = 0; index < HASH_LENGTH; index++) {
      const byte = bytes[offset + index] as number;
      mixed ^=
        (words[index * 32 + (byte & 15)] as number) ^ (words[index * 32 + 16 + (byte >>> 4)] as number);
    }
    return mixed >>> 0;
  }
}

const offsetOf = (position: number): number => ((position - 1) % SEGMENT_HASHES) * HASH_LENGTH;
const entryOf = (mixed: number, position: number): number => ((mixed & ~POSITION_MASK) | position) >>> 0;
/** The low 8 bits chose the table and the high 8 are stored in the entry, so the bits between choose the slot. */
const firstSlot = (table: Uint32Array, mixed: number): number => (mixed >>> 8) & (table.length - 1);
