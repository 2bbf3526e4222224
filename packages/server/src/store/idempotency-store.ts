/** What ties a write to an `Idempotency-Key`. */
export interface IdempotencyRecord {
  /** Hex hash of caller, route and key. */
  readonly scope: string;
  /** Hex hash of the request that the key was first used with. */
  readonly requestHash: string;
  /** Unix seconds. A record never outlives the receipt that it replays. */
  readonly expiresAt: number;
  /** What a repetition is answered with; the receipt's body where it is not given. */
  readonly response?: string | undefined;
}

/** The key was used before: with the same request (here is its answer), or with another one. */
export type Repeated = { kind: 'replayed'; response: string } | { kind: 'reused' };

/** What requests with an `Idempotency-Key` were answered. Durability, ordering and errors are those of `Store`. */
export interface IdempotencyStore {
  /** What an earlier request under this scope was answered, or null where no record is live at `now`. */
  findIdempotent(scope: string, requestHash: string, now: number): Promise<Repeated | null>;
}
