import type { IdempotencyRecord, Repeated } from './idempotency-store.ts';

/** One receipt as it is kept. Times are unix seconds. */
export interface ReceiptRow {
  /** Unique over all receipts, purged ones too. */
  readonly id: string;
  readonly profile: 'nano' | 'standard' | 'pq' | 'metering';
  /** The tenant whose key reads it, or null for a public receipt. */
  readonly tenant: string | null;
  /** The JCS text, exactly as answered. */
  readonly body: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export type PutOutcome = { kind: 'stored' } | Repeated | { kind: 'id_taken' };

export type GetOutcome =
  | { kind: 'found'; body: string; tenant: string | null; expiresAt: number }
  | { kind: 'purged'; tenant: string | null }
  | { kind: 'unknown' };

/** Receipts. Durability, ordering and errors are those of `Store`. */
export interface ReceiptStore {
  /**
   * Stores a receipt, and with it the idempotency record in the same transaction. Unless it answers
   * `stored`, nothing was written. A scope holds until `purge` has deleted its record.
   */
  putReceipt(row: ReceiptRow, idempotency?: IdempotencyRecord): Promise<PutOutcome>;

  /** A receipt is `found` until it is purged, also past its `expiresAt` (unix seconds): `keptReceipt` heeds that. */
  getReceipt(id: string): Promise<GetOutcome>;
}
