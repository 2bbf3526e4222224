import type { SessionRow } from '@tallystick/kit';

/** A receipt of a session. */
export interface KeptStep {
  readonly seq: number;
  /** JCS text; null once purged. */
  readonly body: string | null;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** Reads the sessions that the service signs. `ReceiptStore.putReceipt` writes them. */
export interface SessionStore {
  /** A session with its newest receipt, and the account that may list that; null where none has the id. */
  newest(id: string): Promise<(SessionRow & KeptStep & { readonly account: string | null }) | null>;
  /** The receipt at a place; null where none is. */
  at(id: string, seq: number): Promise<KeptStep | null>;
  /** Receipts that are kept at `now` (Unix seconds), in order. Those that are stored meanwhile may come too. */
  list(id: string, now: number): AsyncIterable<{ readonly seq: number; readonly body: string }>;
}
