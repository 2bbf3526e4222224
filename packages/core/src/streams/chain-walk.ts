import { equalBytes } from '../encoding/bytes.ts';
import { fromHex } from '../encoding/hex.ts';
import { TallyError } from '../errors.ts';
import { type Sha256, sha256 } from '../hash.ts';
import { nextStreamHead, streamStart } from './chain.ts';
import type { StreamHead } from './head.ts';

/** The first head that the hashes do not lead to. */
export interface ChainBreak {
  /** The head before it, 32 bytes, and how many receipts that counts. */
  readonly begin: { readonly head: Uint8Array; readonly at: number };
  /** How many receipts the head counts, and its bytes. */
  readonly count: number;
  readonly target: Uint8Array;
}

/** Recomputes a stream's chain from head to head, as its hashes come: many of them take a while, in which a page should draw. */
export class ChainWalk {
  readonly #digest: Sha256;
  /** The heads that are not reached yet, the next one first. */
  readonly #heads: StreamHead[];
  #head: Uint8Array;
  #at: number;
  #begin: ChainBreak['begin'];
  #broken: ChainBreak | null = null;

  /**
   * @param heads in their order
   * @param from number of receipts before the first hash
   * @throws stream_invalid where no head counts so many
   */
  constructor(heads: readonly StreamHead[], from: number, digest: Sha256 = sha256) {
    const [first] = heads;
    const known = heads.find(({ count }) => count === from);
    if (first === undefined || (known === undefined && from !== 0))
      throw new TallyError('stream_invalid', `There is no head at ${from}, where the hashes begin.`);
    this.#digest = digest;
    this.#heads = heads.filter(({ count }) => count >= from);
    this.#head = from === 0 ? streamStart(first.stream, digest) : fromHex(known?.head ?? '', 32);
    this.#at = from;
    this.#begin = { head: this.#head, at: from };
  }

  /** Takes the next hashes, in hex. */
  take(hashes: readonly string[]): void {
    for (const hash of hashes) {
      if (this.#compare() === undefined) return;
      this.#head = nextStreamHead(this.#head, fromHex(hash, 32), this.#digest);
      this.#at += 1;
    }
  }

  /** The break, once all hashes are taken; null where they lead to every head. */
  end(): ChainBreak | null {
    const missing = this.#compare();
    if (missing !== undefined) this.#break(missing);
    return this.#broken;
  }

  /** Compares the heads that are reached. Returns the next one; undefined where there is none, or the chain is broken. */
  #compare(): StreamHead | undefined {
    if (this.#broken !== null) return undefined;
    for (let [next] = this.#heads; next?.count === this.#at; [next] = this.#heads) {
      if (!equalBytes(this.#head, fromHex(next.head, 32))) {
        this.#break(next);
        return undefined;
      }
      this.#begin = { head: this.#head, at: this.#at };
      this.#heads.shift();
    }
    return this.#heads[0];
  }

  #break({ count, head }: StreamHead): void {
    this.#broken = { begin: this.#begin, count, target: fromHex(head, 32) };
  }
}
