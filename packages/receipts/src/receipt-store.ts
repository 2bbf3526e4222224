import type { IdempotencyReader, IdempotencyRecord, NewReceipt, PutOutcome } from '@tallystick/kit';

export type GetOutcome =
  | { kind: 'found'; body: string; tenant: string | null; expiresAt: number }
  | { kind: 'purged'; tenant: string | null }
  | { kind: 'unknown' };

/** The account that may list a receipt, and the id of the key that it was made with; null where there is none. */
export interface ReceiptOwner {
  readonly owner: string | null;
  readonly key: string | null;
}

/** Receipts, and what ties them to an `Idempotency-Key`. */
export interface ReceiptStore extends IdempotencyReader {
  /**
   * Stores a receipt, and with it its place in a session and the idempotency record in the same transaction. Unless it
   * answers `stored`, nothing was written. A scope holds until `purge` has deleted its record, and a place forever. Of
   * several receipts for one place, from any number of processes, one is stored.
   */
  putReceipt(row: NewReceipt, idempotency?: IdempotencyRecord): Promise<PutOutcome>;

  /** A receipt is `found` until it is purged, also past its `expiresAt` (unix seconds): `keptReceipt` heeds that. */
  getReceipt(id: string): Promise<GetOutcome>;

  /** Whose list shows a receipt, also once it is purged; null of an id that is not known. */
  ownerOf(id: string): Promise<ReceiptOwner | null>;

  /**
   * Deletes what has expired at `now` (unix seconds), at most `limit` rows of each kind; call again until
   * all counts are below `limit`. A receipt loses its body and leaves its id and tenant, so that it reads
   * as `purged` to whom it was readable. Safe to run in several processes at once.
   */
  purge(now: number, limit?: number): Promise<{ receipts: number; idempotency: number; counters: number }>;

  /** One cheap round trip; rejects when the database does not answer. */
  ping(): Promise<void>;
}
