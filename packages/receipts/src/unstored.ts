/** What this process does to issue receipts of tenants. An export of all that was issued waits until it is stored. */
export class Unstored {
  readonly #works = new Map<string, Set<Promise<unknown>>>();

  /** Does work that signs a receipt of a tenant and stores it. */
  async during<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const works = this.#works.get(tenant) ?? new Set();
    this.#works.set(tenant, works);
    const working = work();
    works.add(working);
    try {
      return await working;
    } finally {
      works.delete(working);
      if (works.size === 0) this.#works.delete(tenant);
    }
  }

  /** Resolves once every receipt of the tenant whose work has begun is stored, or has failed. */
  async end(tenant: string): Promise<void> {
    const works = this.#works.get(tenant);
    if (works !== undefined) await Promise.allSettled(works);
  }
}
