import type { Repeated } from './idempotency-store.ts';

/** A process's right to carry out the request of an `Idempotency-Key`, alone among all processes. */
export interface Claim {
  /** As of `IdempotencyRecord`. */
  readonly scope: string;
  /** As of `IdempotencyRecord`. */
  readonly requestHash: string;
  /** Id of the process that carries the request out: the claim ends with its lease. */
  readonly process: string;
  /** Unique to this claim, so that releasing it releases no later claim of the same scope. */
  readonly token: string;
}

export type TakeOutcome =
  | { readonly kind: 'taken' }
  /** Another claim has the scope. `live` says whether the lease of its process still runs. */
  | { readonly kind: 'held'; readonly live: boolean }
  /** The request was carried out before, or the key belongs to another request. */
  | Repeated;

/**
 * Which processes serve, and which requests they are carrying out. Errors and concurrency are those of `Store`.
 *
 * Leases: a process is alive until the time that its last renewal set, by the database's own clock, so that clocks of
 * machines need not agree. A process without a row is dead.
 *
 * Claims: at most one per scope, and none beside the scope's idempotency record. A claim that was `taken` is on disk.
 * A claim does not keep its request from being billed by a process that has lost it: the idempotency record does.
 */
export interface ClaimStore {
  /** Makes or renews the lease of a process for `seconds` from now. Resolves once it is durable. */
  renewLease(process: string, seconds: number): Promise<void>;
  /** Ends the lease of a process at once. One that has ended is none. */
  endLease(process: string): Promise<void>;
  /** Shares its transaction with other claims (group commit). */
  take(claim: Claim): Promise<TakeOutcome>;
  /** Ends a claim. One that has ended is none. Shares its transaction with other claims. */
  release(token: Pick<Claim, 'scope' | 'token'>): Promise<void>;
  /** Deletes the leases that ran out, and the claims of processes that are dead. */
  forgetDead(): Promise<void>;
}
