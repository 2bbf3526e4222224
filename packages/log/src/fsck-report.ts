/** One thing that is wrong, and where. */
export interface Fault {
  /** `leaf 5`, `tile/0/000`, `checkpoint 256`, `posting 3`, `head`. */
  readonly where: string;
  readonly what: string;
}

/** The signatures that one key other than the log's has made on stored checkpoints. */
export interface WitnessFinding {
  readonly name: string;
  /** 8 hex digits: the key's id in a signed note. */
  readonly key_id: string;
  /**
   * `configured` and `former` (configured once): each of its cosignatures was checked, and a bad one is a fault.
   * `unknown`: there is no key to check it with, which is no fault, since anybody may sign a checkpoint.
   */
  readonly standing: 'configured' | 'former' | 'unknown';
  /** Number of checkpoints with such a signature. `newest` is the size of the newest of them, in leaves. */
  readonly checkpoints: number;
  readonly newest: number;
}

/** What was read, and what is wrong with it. */
export interface FsckReport {
  readonly leaves: number;
  readonly tiles: number;
  readonly checkpoints: number;
  readonly postings: number;
  /** Files that were read from the storage. */
  readonly files: number;
  /** The keys that have cosigned checkpoints. */
  readonly witnesses: readonly WitnessFinding[];
  /** The first 1,000 faults. */
  readonly faults: readonly Fault[];
  readonly faultCount: number;
}

const KEPT_FAULTS = 1_000;
const KEPT_WITNESSES = 1_000;

/** Gathers a report in bounded memory. */
export class Findings {
  readonly counts = { leaves: 0, tiles: 0, checkpoints: 0, postings: 0, files: 0 };
  readonly #faults: Fault[] = [];
  readonly #witnesses = new Map<string, WitnessFinding>();
  #faultCount = 0;

  fault(where: string, what: string): void {
    this.#faultCount += 1;
    if (this.#faults.length < KEPT_FAULTS) this.#faults.push({ where, what });
  }

  /** Counts another key's signature on the checkpoint of `size` leaves. The sizes must come in rising order. */
  cosigned(key: Pick<WitnessFinding, 'name' | 'key_id' | 'standing'>, size: number): void {
    const id = `${key.name} ${key.key_id}`;
    const before = this.#witnesses.get(id);
    if (before === undefined && this.#witnesses.size >= KEPT_WITNESSES) return;
    const { name, key_id, standing } = key;
    const checkpoints = (before?.checkpoints ?? 0) + 1;
    this.#witnesses.set(id, { name, key_id, standing, checkpoints, newest: size });
  }

  report(): FsckReport {
    const witnesses = [...this.#witnesses.values()];
    return { ...this.counts, witnesses, faults: this.#faults, faultCount: this.#faultCount };
  }
}
