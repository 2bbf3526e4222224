/** A stream: the anchored hashes of one account's receipts, chained in the order of their commits. Times are Unix seconds. */
export interface StreamRow {
  /** Account that the receipts belong to: `tenant:…` or `caller:…`. */
  readonly id: string;
  /** When it was opened. */
  readonly since: number;
  /** Number of receipts. */
  readonly size: number;
  /** 32 bytes (spec/streams.md). */
  readonly head: Uint8Array;
}

/** Receipts that entered a stream in one transaction. */
export interface StreamRound {
  readonly stream: string;
  /** Place of the first of them, from 1. */
  readonly first: number;
  /** 32 bytes each. */
  readonly hashes: Uint8Array;
}

/** A signed head. */
export interface StreamHeadRow {
  readonly stream: string;
  /** From 1, without a gap. */
  readonly sequence: number;
  readonly size: number;
  readonly at: number;
  /** JCS text. */
  readonly body: string;
}

/**
 * Streams of receipts. `putReceipt` and settlements add to them in the transaction that stores the receipt: to a tenant's
 * always, which they open, to that of another account where it was opened. No purge takes anything away. Durability,
 * ordering and errors are those of `Store`.
 */
export interface StreamStore {
  /** Opens a stream; one that is open stays as it is. */
  open(row: StreamRow): Promise<void>;
  get(id: string): Promise<StreamRow | null>;
  /** Every stream that has grown since its newest head, by id, a page at a time. */
  grown(): AsyncIterable<StreamRow>;
  /** The rounds from the one that holds the place `first` on; at most `limit`. */
  rounds(stream: string, first: number, limit: number): Promise<StreamRound[]>;
  newestHead(stream: string): Promise<StreamHeadRow | null>;
  /** Stores the head that follows the newest; `stale` where there is another with its number. */
  putHead(row: StreamHeadRow): Promise<'stored' | 'stale'>;
  /** The heads after a number, in their order; at most `limit`. */
  heads(stream: string, after: number, limit: number): Promise<StreamHeadRow[]>;
  /** The newest head of a time up to `at` with at most `size` receipts; null where there is none. */
  headBefore(stream: string, at: number, size: number): Promise<StreamHeadRow | null>;
}
