/** Every version of the bundle is kept, and anybody can register: so what changes there is published this often at most. */
const INTERVAL_MS = 600_000;

/** When a change of the registry is to be published in the trust bundle: at once, but not again within ten minutes. */
export class RegistryNews {
  #changed = false;
  #publishedAt = Number.NEGATIVE_INFINITY;

  changed(): void {
    this.#changed = true;
  }

  /** Whether there is something to publish now (Unix milliseconds); who is told so publishes it. */
  due(now: number): boolean {
    if (!this.#changed || now - this.#publishedAt < INTERVAL_MS) return false;
    this.#changed = false;
    this.#publishedAt = now;
    return true;
  }
}
