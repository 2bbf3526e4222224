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

/** A session that the service signs. */
export interface SessionRow {
  /** 32 lower-case hex characters. */
  readonly id: string;
  /** Ledger account of the only caller that may go on with it. */
  readonly owner: string;
  /** 1 if its closing is to be anchored, else 0. */
  readonly anchor: number;
}

/** Place of a receipt in a session. A place is taken once, and stays taken when the receipt is purged. */
export interface SessionPlaceRow {
  /** Id of the session. */
  readonly session: string;
  /** Number of the receipt, from 0. */
  readonly seq: number;
  readonly receiptId: string;
}

/** A receipt to be stored. */
export interface NewReceipt extends ReceiptRow {
  /** The account that issued it, paid for it, or that it was made as, which may list it; absent or null if nobody may. */
  readonly owner?: string | null | undefined;
  /** Public id of the API key that it was made with; absent or null for none. */
  readonly key?: string | null | undefined;
  /**
   * Makes the receipt's anchored hash, 32 bytes, for the stream that counts it (spec/streams.md). It is called only where
   * there is such a stream. Absent for a receipt that no stream counts.
   */
  readonly anchored?: (() => Uint8Array) | undefined;
  /** Place that it takes in a session; with number 0 it begins the session. Absent for a receipt of no session. */
  readonly place?: { readonly session: SessionRow; readonly seq: number } | undefined;
}

/** Unless it is `stored`, nothing was written. */
export type PutOutcome = { kind: 'stored' } | Repeated | { kind: 'id_taken' | 'place_taken' };
