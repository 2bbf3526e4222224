import type { KeptAs } from '@tallystick/core';

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

/** One receipt as it is kept. Times are unix seconds. */
export interface ReceiptRow {
  /** Unique over all receipts, purged ones too. */
  readonly id: string;
  readonly profile: KeptAs;
  /** The tenant whose key reads it, or null for a public receipt. */
  readonly tenant: string | null;
  /** The JCS text, exactly as answered. */
  readonly body: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export type PutOutcome = { kind: 'stored' } | Repeated | { kind: 'id_taken' };
