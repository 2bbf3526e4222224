import type { NanoUsdc } from '@tallystick/ledger';

/** A receipt as its owner's list shows it. What its family does not say is null. */
export interface ListedReceipt {
  readonly id: string;
  /** The account that may list it. */
  readonly owner: string;
  /** Unix milliseconds at which it was issued. */
  readonly at: number;
  readonly profile: string;
  readonly purpose: string | null;
  readonly did: string | null;
  readonly model: string | null;
  /** Of the receipt of a call: the provider of its model. */
  readonly provider: string | null;
  /** Of the receipt of a call: `ok`, or `error` where its answer broke off. */
  readonly status: string | null;
  /** Public id of the API key that it was made with. */
  readonly key: string | null;
  /** SHA-256 of the request or the subject, in hex. */
  readonly requestHash: string | null;
  /** Id of the session that it is a step of. */
  readonly session: string | null;
  /** What was paid for it; null where nothing was, or nothing tells any more. */
  readonly cost: NanoUsdc | null;
  /** Its place in the log; null where it was not anchored when it was issued. */
  readonly leafIndex: number | null;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** What receipts are looked for by. Members that are null do not count. */
export interface ReceiptFilters {
  readonly id: string | null;
  readonly requestHash: string | null;
  readonly session: string | null;
  readonly did: string | null;
  readonly key: string | null;
  readonly model: string | null;
  readonly purpose: string | null;
  readonly profile: string | null;
  readonly provider: string | null;
  readonly status: string | null;
  /** Tag of the call that the receipt is of, as `name:value`. */
  readonly tag: string | null;
  /** Inclusive, as `maxCost` is. With either, receipts of which no cost is known are left out. */
  readonly minCost: NanoUsdc | null;
  readonly maxCost: NanoUsdc | null;
}

/** A part of an owner's list, newest first. */
export interface ReceiptPage extends ReceiptFilters {
  readonly owner: string;
  /** Unix milliseconds, inclusive. */
  readonly from: number;
  /** Receipts come after this place: by time in Unix milliseconds, then by id. */
  readonly before: { readonly at: number; readonly id: string };
  /** Unix seconds; receipts that have expired by then are left out. */
  readonly now: number;
  readonly limit: number;
}

/** A count of an owner's receipts by bucket of time. */
export interface ReceiptCounting extends ReceiptFilters {
  readonly owner: string;
  /** Seconds of a bucket: 60, 3600 or 86400. */
  readonly span: number;
  /** Unix seconds, inclusive, at the edge of a bucket. */
  readonly from: number;
  /** Unix seconds, exclusive, at the edge of a bucket. */
  readonly to: number;
  /** Unix seconds; receipts that have expired by then are not counted. */
  readonly now: number;
}

/** Receipts of a bucket. */
export interface ReceiptCount {
  /** Unix seconds of its beginning. */
  readonly at: number;
  readonly receipts: number;
}

/** A stored receipt, and whether its owner's list lacks it. */
export interface ScannedReceipt {
  readonly id: string;
  /** Null where the list has it, or nobody may list it, or it was purged. */
  readonly body: string | null;
  /** Null where the list has it, or nobody may list it. */
  readonly owner: string | null;
  readonly key: string | null;
  readonly profile: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * Stores the lists of receipts. Every read but `scan` names one owner, and sees nothing of another's. Errors and ordering
 * are those of `Store`. What `put` has written is durable.
 */
export interface ReceiptListStore {
  /** Writes the rows whose id has none yet, in one transaction. */
  put(rows: readonly ListedReceipt[]): Promise<void>;
  page(page: ReceiptPage): Promise<ListedReceipt[]>;
  /** The buckets that have receipts, newest first. */
  counts(counting: ReceiptCounting): Promise<ReceiptCount[]>;
  /** The next stored receipts whose ids sort between two texts, in the order of ids. */
  scan(range: {
    readonly after: string;
    readonly before: string;
    readonly limit: number;
  }): Promise<ScannedReceipt[]>;
  /** Deletes rows of receipts that have expired at `now` (unix seconds), at most `limit`. Returns how many. */
  purge(now: number, limit: number): Promise<number>;
}
