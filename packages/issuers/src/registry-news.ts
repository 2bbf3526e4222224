/** Shortest time between bundles. Every version of the bundle is stored and anybody can register, so changes are collected. */
const INTERVAL_MS = 600_000;

/** Decides when a change of the registry is published in the trust bundle: at once, but not again within ten minutes. */
export class RegistryNews {
  #changed = false;
  #publishedAt = Number.NEGATIVE_INFINITY;

  changed(): void {
    this.#changed = true;
  }

  /** Returns whether there is a change to publish now (Unix milliseconds); the caller then publishes it. */
  due(now: number): boolean {
    if (!this.#changed || now - this.#publishedAt < INTERVAL_MS) return false;
    this.#changed = false;
    this.#publishedAt = now;
    return true;
  }
}
