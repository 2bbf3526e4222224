const FIRST_BYTES = 64;

/** A set of the units 1 to `billed`, one bit each; it grows with the largest unit in it. */
export class UnitSet {
  readonly #maxBytes: number;
  #bits: Uint8Array;

  constructor(billed: number) {
    this.#maxBytes = (billed >>> 3) + 1;
    this.#bits = new Uint8Array(Math.min(FIRST_BYTES, this.#maxBytes));
  }

  has(unit: number): boolean {
    return ((this.#bits[unit >>> 3] ?? 0) & bitOf(unit)) !== 0;
  }

  add(unit: number): void {
    const index = unit >>> 3;
    if (index >= this.#bits.length) this.#grow(index + 1);
    this.#bits[index] = (this.#bits[index] as number) | bitOf(unit);
  }

  #grow(bytes: number): void {
    const larger = new Uint8Array(Math.min(Math.max(bytes, 2 * this.#bits.length), this.#maxBytes));
    larger.set(this.#bits);
    this.#bits = larger;
  }
}

const bitOf = (unit: number): number => 1 << (unit & 7);
