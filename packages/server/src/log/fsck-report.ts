/** Where something is wrong, and what. */
export interface Fault {
  /** `leaf 5`, `tile/0/000`, `checkpoint 256`, `posting 3`, `head`. */
  readonly where: string;
  readonly what: string;
}

/** What was read, and what is wrong with it. */
export interface FsckReport {
  readonly leaves: number;
  readonly tiles: number;
  readonly checkpoints: number;
  readonly postings: number;
  /** The first 1,000. */
  readonly faults: readonly Fault[];
  /** All of them, counted. */
  readonly faultCount: number;
}

const KEPT_FAULTS = 1_000;

/** Gathers a report in bounded memory. */
export class Findings {
  readonly counts = { leaves: 0, tiles: 0, checkpoints: 0, postings: 0 };
  readonly #faults: Fault[] = [];
  #faultCount = 0;

  fault(where: string, what: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < KEPT_FAULTS) this.#faults.push({ where, what });
  }

  report(): FsckReport {
    return { ...this.counts, faults: this.#faults, faultCount: this.#faultCount };
  }
}
