/** The leases of this process's ids, by its own clock: when they may run out, and whether one has lapsed since. */
export class OwnLeases {
  readonly #leases = new Map<string, { until: number; term: number }>();
  #terms = 0;

  /** @param begun what `performance.now()` said before the renewal was sent: the database counts from later */
  renewed(process: string, begun: number, seconds: number): void {
    const lease = this.#leases.get(process);
    // A lease that ran out before the renewal was written may have been ended by others.
    const goesOn = lease !== undefined && performance.now() < lease.until;
    if (!goesOn) this.#terms += 1;
    this.#leases.set(process, {
      until: begun + seconds * 1_000,
      term: goesOn ? lease.term : this.#terms,
    });
  }

  ended(process: string): void {
    this.#leases.delete(process);
  }

  /** The term that runs surely: it is another one after a lapse. Null where none does. */
  termOf(process: string): number | null {
    const lease = this.#leases.get(process);
    return lease !== undefined && performance.now() < lease.until ? lease.term : null;
  }
}
