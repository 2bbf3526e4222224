import type { NanoUsdc } from '@tallystick/ledger';

/** A call of a model as its caller's list shows it. What only the process knew that served it is null after a crash. */
export interface CallRow {
  /** Id of the receipt; of a call without one `call_<unix seconds>_<12 hex>`. */
  readonly id: string;
  /** The ledger account that the call was made as. Only that account may read the row. */
  readonly owner: string;
  /** Unix milliseconds at which the call ended; of a call with a receipt, at which that was issued, so that both lists have one order. */
  readonly at: number;
  readonly receiptId: string | null;
  /** Id of the model that answered, or to which a failed call was routed; null if it came to no route. */
  readonly model: string | null;
  readonly requestedModel: string;
  readonly provider: string | null;
  readonly routeReason: string | null;
  /** 1 for a stream, otherwise 0. */
  readonly stream: number;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cost: NanoUsdc;
  readonly saving: NanoUsdc;
  /** Milliseconds from the call's acceptance to the first byte of the answer. */
  readonly firstByteMs: number | null;
  /** Milliseconds from the call's acceptance to its end. */
  readonly totalMs: number | null;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Code of the error that was answered, or that ended a stream; null if nothing went wrong. */
  readonly errorCode: string | null;
  readonly did: string | null;
  /** Public name of the API key. */
  readonly key: string | null;
  readonly session: string | null;
  /** JSON object of texts; null without tags. */
  readonly tags: string | null;
  /** SHA-256 of the request in hex. */
  readonly requestHash: string | null;
}

/** A row as it is read. */
export interface ListedCall extends CallRow {
  /** 1 where prompt and answer are kept, otherwise 0. */
  readonly contentKept: number;
}

/** A row as it is written. */
export interface NewCall extends CallRow {
  /** JSON of what is shown of this call alone; null if nothing is known. */
  readonly detail: string | null;
}

/** What calls are looked for by. Members that are absent or null do not count. */
export interface CallFilters {
  readonly id?: string | null;
  readonly did?: string | null;
  readonly key?: string | null;
  readonly model?: string | null;
  readonly provider?: string | null;
  readonly status?: number | null;
  /** Whether the calls went wrong. */
  readonly failed?: boolean | null;
  readonly errorCode?: string | null;
  readonly minCost?: NanoUsdc | null;
  readonly maxCost?: NanoUsdc | null;
  /** `name:value`. */
  readonly tag?: string | null;
  readonly session?: string | null;
  readonly requestHash?: string | null;
  /** Whether the calls have a receipt. */
  readonly billed?: boolean | null;
}

/** A part of a caller's list, newest first. */
export interface CallPage extends CallFilters {
  readonly owner: string;
  /** Unix milliseconds, inclusive. */
  readonly from: number;
  /** The calls before this place; `at` is in Unix milliseconds. */
  readonly before: CallPlace;
  readonly limit: number;
}

/** A place in the list: calls are ordered by time, then by id. */
interface CallPlace {
  readonly at: number;
  readonly id: string;
}

/** A settled call that has no row. */
export interface UnlistedCall {
  readonly id: string;
  readonly owner: string;
  /** Public name of the API key that it was made with; null if there was none, or it is not known. */
  readonly key: string | null;
  /** The receipt; null if it was deleted after its retention period. */
  readonly body: string | null;
}

/** Which sums of calls are read. */
export interface CallCounting extends CallFilters {
  readonly owner: string;
  /** Length of a bucket in seconds: 60, 3600 or 86400. */
  readonly span: number;
  /** Unix seconds, inclusive; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  readonly by: 'none' | 'model' | 'provider' | 'status' | 'key';
}

/** Sums of calls, newest buckets first. */
export interface CallCounts {
  readonly sums: CallSums[];
  /** Unix milliseconds from which on calls were counted, where there were too many to count all; otherwise null. */
  readonly countedFrom: number | null;
}

/** Sums of the calls of one bucket, group and band of latency. */
export interface CallSums {
  /** Unix seconds at which the bucket begins. */
  readonly at: number;
  /** The name of the group; empty where calls are not told apart, or have no such name. */
  readonly by: string;
  /** See `bandOf`. */
  readonly band: number;
  readonly calls: number;
  readonly errors: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: NanoUsdc;
  readonly saving: NanoUsdc;
}

/** Up to when, in Unix seconds, every call that a process settled has its row. */
export interface CallMark {
  /** Id of the process's lease. */
  readonly process: string;
  readonly listedUntil: number;
}

/**
 * Stores the list of calls. Errors and ordering are those of `Store`. What `put` has written survives the process and the end of a database
 * elsewhere. Rows that a process, or with an embedded database the machine, ended without writing are made again from receipts. A mark
 * may be lost with the machine.
 */
export interface CallStore {
  /** Writes the calls whose id has no row yet, with their tags, details and counts, in one transaction. */
  put(calls: readonly NewCall[]): Promise<void>;
  page(page: CallPage): Promise<ListedCall[]>;
  /**
   * Sums from the roll-up where it can tell, otherwise of the rows themselves. Of those it looks at the newest 200,000
   * that the most selective filter leaves, so that no question is read without end.
   */
  counts(counting: CallCounting): Promise<CallCounts>;
  /** The row and the detail of a call of this owner; null if it has no such call. */
  find(
    owner: string,
    id: string,
  ): Promise<{ readonly row: ListedCall; readonly detail: string | null } | null>;
  /** Settled calls without a row whose id sorts after `after` and before `before`, in the order of ids. */
  unlisted(range: { after: string; before: string; limit: number }): Promise<UnlistedCall[]>;
  /**
   * Deletes rows of calls of before `before`, a multiple of 60 in Unix seconds, with their tags, details and counts by the minute, at most `limit` of
   * them; how many they were. Counts by the hour and the day stay.
   */
  purge(before: number, limit: number): Promise<number>;
  /** Writes or moves the mark of a process. */
  mark(mark: CallMark): Promise<void>;
  unmark(process: string): Promise<void>;
  /** The marks of processes whose lease has ended. */
  abandoned(): Promise<CallMark[]>;
}
