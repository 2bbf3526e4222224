import type { LearningStore } from '../learning/learning-store.ts';
import type { Ratings } from './bandit.ts';

/** Milliseconds for which ratings are not read again. */
const FRESH_MS = 5_000;
const MOST_ACCOUNTS = 1_000;

interface Known {
  readonly until: number;
  readonly ratings: Promise<ReadonlyMap<string, Ratings>>;
}

/** Ratings by account and model, of the accounts that called last. */
export class KnownRatings {
  readonly #store: Pick<LearningStore, 'ratings'>;
  readonly #clock: () => number;
  readonly #known = new Map<string, Known>();

  /** @param clock Unix milliseconds */
  constructor(store: Pick<LearningStore, 'ratings'>, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  of(account: string): Promise<ReadonlyMap<string, Ratings>> {
    const now = this.#clock();
    const known = this.#known.get(account);
    if (known !== undefined && now < known.until) return known.ratings;
    const ratings = this.#read(account, now);
    this.#known.delete(account);
    this.#known.set(account, { until: now + FRESH_MS, ratings });
    const oldest = this.#known.keys().next();
    if (this.#known.size > MOST_ACCOUNTS && !oldest.done) this.#known.delete(oldest.value);
    return ratings;
  }

  async #read(account: string, now: number): Promise<ReadonlyMap<string, Ratings>> {
    const rows = await this.#store.ratings(account, Math.floor(now / 1_000));
    return new Map(rows.map(({ model, count, score }) => [model, { count, score }]));
  }
}
