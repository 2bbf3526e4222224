/** Milliseconds for which a row is used that another process may have changed unseen. */
const UNSEEN_MS = 1_000;
/** Milliseconds after which such a row is read again while it is still used, so that no request waits when it ends. */
const RENEWED_MS = 500;
/** Rows that are remembered at once. */
const MOST = 10_000;

interface Remembered {
  readonly row: unknown;
  /** What `performance.now()` said before it was read. */
  readonly askedAt: number;
  /** Whether it is being read again. */
  renewing: boolean;
}

/**
 * Rows that every request asks for, in memory. A row that this process changes must be forgotten once that is
 * committed. What others change is seen at once where the database says that they committed something; else a row is
 * used for a second from when it was asked for, whatever happens to the connection meanwhile, and one that is in use is
 * read again before that.
 */
export class RememberedRows {
  readonly #outsideVersion: () => number | null;
  readonly #rows = new Map<string, Remembered>();
  #seen: number | null = null;
  /** How often all was forgotten. What was asked for before the last time is not remembered. */
  #times = 0;

  /** @param outsideVersion See `SqlDatabase`. */
  constructor(outsideVersion: () => number | null) {
    this.#outsideVersion = outsideVersion;
  }

  /** The row from memory, else as `read` finds it. That there is none is not remembered. */
  async of<Row>(place: string, read: () => Promise<Row | null>): Promise<Row | null> {
    const version = this.#outsideVersion();
    if (version !== this.#seen) this.forget();
    this.#seen = version;
    const known = this.#rows.get(place);
    const age = version !== null || known === undefined ? 0 : performance.now() - known.askedAt;
    if (known === undefined || age >= UNSEEN_MS) return this.#read(place, read);
    if (age >= RENEWED_MS && !known.renewing) {
      known.renewing = true;
      // If it fails, the first request that finds no row in memory is told so.
      this.#read(place, read).catch(() => undefined);
    }
    return known.row as Row;
  }

  async #read<Row>(place: string, read: () => Promise<Row | null>): Promise<Row | null> {
    const askedAt = performance.now();
    const times = this.#times;
    const row = await read();
    if (times !== this.#times) return row;
    if (this.#rows.size >= MOST) this.#rows.clear();
    if (row === null) this.#rows.delete(place);
    else this.#rows.set(place, { row, askedAt, renewing: false });
    return row;
  }

  forget(): void {
    this.#rows.clear();
    this.#times += 1;
  }

  /** Forgets all once a change is made, or may have been. */
  async after<T>(change: Promise<T>): Promise<T> {
    try {
      return await change;
    } finally {
      this.forget();
    }
  }
}
