import type { Repeated } from '@tallystick/kit';

/** A process's right to carry out the request of an `Idempotency-Key`, alone among all processes. */
export interface Claim {
  /** Scope, as in `IdempotencyRecord`. */
  readonly scope: string;
  /** Request hash, as in `IdempotencyRecord`. */
  readonly requestHash: string;
  /** Id of the process that carries the request out. The claim ends with the lease of that process. */
  readonly process: string;
  /** Unique to this claim, so that ending it cannot end a later claim of the same scope. */
  readonly token: string;
}

export type TakeOutcome =
  | { readonly kind: 'taken' }
  /** Another claim has the scope. `live` says whether the lease of its process still runs. */
  | { readonly kind: 'held'; readonly live: boolean }
  /** The request was carried out before, or the key was used with another request. */
  | Repeated;

/**
 * The processes that serve, and the requests that they are carrying out. Errors and concurrency are those of `Store`.
 * Leases: a process is alive until the time that its last renewal set, by the database's own clock, so clocks of
 * machines need not agree. A process without a row is dead.
 * Claims: at most one per scope, and none beside the scope's idempotency record. A claim that was `taken` is on disk. A
 * claim alone does not stop a process that has lost it from billing the request: the idempotency record does.
 */
export interface ClaimStore {
  /** Makes or renews the lease of a process for `seconds` from now. Resolves once it is durable. */
  renewLease(process: string, seconds: number): Promise<void>;
  /** Ends the lease of a process at once. Ending it twice does nothing. */
  endLease(process: string): Promise<void>;
  /** Takes a claim. Shares its transaction with other claims (group commit). */
  take(claim: Claim): Promise<TakeOutcome>;
  /** Ends a claim. Ending it twice does nothing. Shares its transaction with other claims. */
  release(token: Pick<Claim, 'scope' | 'token'>): Promise<void>;
  /** Deletes the leases that ran out, and the claims of processes that are dead. */
  forgetDead(): Promise<void>;
}
