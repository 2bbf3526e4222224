import type { KeptAs } from '@tallystick/core';

/** Binds a write to an `Idempotency-Key`. */
export interface IdempotencyRecord {
  /** Hex hash of caller, route and key. */
  readonly scope: string;
  /** Hex hash of the request that the key was first used with. */
  readonly requestHash: string;
  /** Unix seconds. A record never outlives the receipt that it returns. */
  readonly expiresAt: number;
  /** Answer to a repetition; the receipt's body when absent. */
  readonly response?: string | undefined;
}

/** The key was used before: with the same request (`response` is its answer), or with another one. */
export type Repeated = { kind: 'replayed'; response: string } | { kind: 'reused' };

/** A stored receipt. Times are Unix seconds. */
export interface ReceiptRow {
  /** Id, unique over all receipts, purged ones too. */
  readonly id: string;
  readonly profile: KeptAs;
  /** The tenant whose key reads it, or null for a public receipt. */
  readonly tenant: string | null;
  /** The JCS text, byte for byte as it was answered. */
  readonly body: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export type PutOutcome = { kind: 'stored' } | Repeated | { kind: 'id_taken' };
