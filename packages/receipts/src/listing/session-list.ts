import type { NanoUsdc } from '@tallystick/ledger';

/** A session as its owner's list shows it: sums of the listed calls that name it, and of its listed receipts. */
export interface ListedSession {
  /** `svc.session` of its calls, or the id under which its receipts are signed. */
  readonly id: string;
  /** Unix milliseconds at which its first call ended or its first receipt was issued; `lastAt` that of the last one. */
  readonly at: number;
  readonly lastAt: number;
  /** Calls of models, and those of them that went wrong. */
  readonly calls: number;
  readonly errors: number;
  /** Receipts of the session that the service signed, and those of them that are of calls of tools. */
  readonly receipts: number;
  readonly toolCalls: number;
  /** What its calls and its receipts cost. */
  readonly cost: NanoUsdc;
}

/** A part of an owner's list, the sessions that began last first. */
export interface SessionPage {
  readonly owner: string;
  /** Public id of the API key whose calls and receipts alone count; null for all of the owner's. */
  readonly key: string | null;
  /** Unix milliseconds, inclusive. */
  readonly from: number;
  /** Sessions come after this place: by their beginning in Unix milliseconds, then by id. */
  readonly before: { readonly at: number; readonly id: string };
  /** Unix seconds; sessions without calls whose receipts have expired by then are left out. */
  readonly now: number;
  readonly limit: number;
}

/**
 * Reads the lists of sessions. The lists of calls and of receipts write them with their own rows, in the same transaction.
 * Errors and ordering are those of `Store`.
 */
export interface SessionListStore {
  page(page: SessionPage): Promise<ListedSession[]>;
  /** Deletes sessions without calls whose receipts have expired at `now` (Unix seconds), at most `limit`. Returns how many. */
  purge(now: number, limit: number): Promise<number>;
}
