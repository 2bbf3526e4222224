/** Prompt and answer of a call, encrypted. */
export interface ContentRow {
  /** Id of the call, which is that of its receipt. */
  readonly id: string;
  /** The ledger account that the call was made as. Only that account may read the row. */
  readonly owner: string;
  /** Public id of the API key that the call was made with; null for none. */
  readonly key: string | null;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly sealed: Uint8Array;
}

/** Stores what callers have kept of their calls. Errors and durability are those of `CallStore`. */
export interface ContentStore {
  /** Writes the rows whose id has none yet, in one transaction. */
  put(rows: readonly ContentRow[]): Promise<void>;
  /** A row of this owner; null if there is none. One that has expired is there until it is purged. */
  find(owner: string, id: string): Promise<ContentRow | null>;
  /** Deletes a row of this owner, so that it is in the database no more. */
  remove(owner: string, id: string): Promise<void>;
  /** Deletes rows that have expired at `now` (unix seconds), at most `limit`. Returns how many. */
  purge(now: number, limit: number): Promise<number>;
}
