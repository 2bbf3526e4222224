/** How a {@link RollUp} writes. */
export interface RollUpOptions<Row> {
  /** Writes rows in one transaction; a row that is there already is left as it is. */
  readonly write: (rows: readonly Row[]) => Promise<void>;
  /** Told of rows that found no place in the queue. They are to be made again from what is stored. */
  readonly dropped?: (rows: number) => void;
  /** Most rows that wait; more are dropped. */
  readonly mostWaiting?: number;
  /** Most rows that `write` gets at once. */
  readonly mostAtOnce?: number;
}

/**
 * A bounded queue of rows that a list shows, so that what they are of need not wait until they are written. The rows are
 * lost with the process; then, as when rows are dropped, they are made again from what is stored.
 */
export class RollUp<Row> {
  readonly #options: Required<RollUpOptions<Row>>;
  #rows: Row[] = [];
  #flushing: Promise<void> | null = null;

  constructor(options: RollUpOptions<Row>) {
    this.#options = { dropped: () => undefined, mostWaiting: 100_000, mostAtOnce: 2_000, ...options };
  }

  /** Number of rows that wait. */
  get waiting(): number {
    return this.#rows.length;
  }

  /** Takes rows to be written with the next flush. */
  add(...rows: readonly Row[]): void {
    const room = this.#options.mostWaiting - this.#rows.length;
    this.#rows.push(...rows.slice(0, room));
    if (rows.length > room) this.#options.dropped(rows.length - room);
  }

  /** Writes what waits, never twice at once. Where that fails it rejects, and the rows wait for the next flush. */
  flush(): Promise<void> {
    this.#flushing ??= this.#writeAll().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #writeAll(): Promise<void> {
    while (this.#rows.length > 0) {
      const rows = this.#rows.slice(0, this.#options.mostAtOnce);
      await this.#options.write(rows);
      this.#rows = this.#rows.slice(rows.length);
    }
  }
}
