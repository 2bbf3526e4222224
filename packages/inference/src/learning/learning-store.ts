/** A stored measurement of one model. */
export interface LearnedRow {
  /** Id of the model. */
  readonly model: string;
  /** JSON. */
  readonly state: string;
  /** Unix seconds of the last write. */
  readonly at: number;
}

/** A settled call that the account it was made from may rate. */
export interface RateableCall {
  readonly receiptId: string;
  readonly account: string;
  /** Id of the model that answered. */
  readonly model: string;
  /** The part of a comparison that the call belongs to; null for none. */
  readonly arm: string | null;
  /** Unix seconds until which it can be rated, and its rating is kept. */
  readonly expiresAt: number;
}

/** What a caller says of an answer. */
export interface Rating {
  /** From 0 for useless to 100 for as good as can be. */
  readonly score: number;
  readonly label: string | null;
  readonly comment: string | null;
}

/** A call with its rating, which may be an earlier one. */
export interface RatedCall extends RateableCall {
  readonly rating: Rating;
  /** Unix seconds. */
  readonly ratedAt: number;
  /** Whether it had no rating before. */
  readonly isNew: boolean;
}

/**
 * What the processes of a service have learned of their models, and share for speed only; and ratings. Errors are those
 * of `Store`. Durability: ratings as with `Store`; any other write survives the process, but not always the machine.
 */
export interface LearningStore {
  /**
   * Replaces the rows of these models in one transaction, in which nobody else writes them.
   * @param merged gets what is stored, null where nothing is, and returns what is to be; pure
   */
  update(
    models: readonly string[],
    now: number,
    merged: (model: string, state: string | null) => string,
  ): Promise<void>;
  /** The rows that were written at `since` (unix seconds) or later. */
  changed(since: number): Promise<LearnedRow[]>;
  /** Stores calls without a rating. One that is stored already stays as it is. */
  allowRatings(calls: readonly RateableCall[]): Promise<void>;
  /**
   * Rates a call, unless it has a rating: the first one stands.
   * @param now unix seconds
   * @returns null where the account has no such call that can still be rated
   */
  rate(receiptId: string, account: string, rating: Rating, now: number): Promise<RatedCall | null>;
  /** The account's ratings by model, of those calls whose ratings are kept at `now` (unix seconds). */
  ratings(
    account: string,
    now: number,
  ): Promise<{ readonly model: string; readonly count: number; readonly score: number }[]>;
  /**
   * Deletes at most `limit` calls that can no longer be rated at `now` (unix seconds), and at most as many models that
   * were last written `LEARNED_SECONDS` before; returns how many.
   */
  purge(now: number, limit?: number): Promise<number>;
}

/** A model that nobody called for so long is forgotten. */
export const LEARNED_SECONDS = 90 * 86_400;
