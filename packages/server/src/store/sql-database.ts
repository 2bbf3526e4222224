import type { Lookup, Queries } from './queries.ts';
import type { ConsumeOutcome, IdempotencyRecord, PutOutcome, ReceiptRow, Repeated } from './store.ts';
import type { Work } from './work.ts';

export interface Put {
  readonly row: ReceiptRow;
  readonly idempotency: IdempotencyRecord | undefined;
}

export interface Consume {
  readonly counter: string;
  readonly limit: number;
  readonly expiresAt: number;
}

/** What differs between SQL databases. */
export interface SqlDatabase {
  readonly queries: Queries;
  /** Runs work that only reads; it sees what is committed. */
  read<T>(work: Work<T>): Promise<T>;
  /** Runs work in a transaction and resolves once it is durable; rolls back when it throws. */
  transaction<T>(work: Work<T>): Promise<T>;
  /** Stores receipts and counts up, all in one transaction like the above. */
  commit(puts: readonly Put[], requests: readonly Consume[]): Promise<Committed>;
  /** Holds off other writers of documents until the transaction ends. */
  lockDocuments(): Work<void>;
  isRowFault(error: unknown): boolean;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}

/** One outcome per put and per request, in their order. */
export interface Committed {
  readonly stored: readonly PutOutcome[];
  readonly counted: readonly ConsumeOutcome[];
}

/** What a request under a scope that has a record is answered. */
export function repeat(record: Lookup, requestHash: string): Repeated {
  return record.requestHash === requestHash
    ? { kind: 'replayed', response: record.response }
    : { kind: 'reused' };
}

/** Decides consumptions in order and leaves the new counts in `used`. */
export function countUp(requests: readonly Consume[], used: Map<string, number>): ConsumeOutcome[] {
  return requests.map(({ counter, limit }) => {
    const before = used.get(counter) ?? 0;
    if (before >= limit) return { allowed: false, used: before };
    used.set(counter, before + 1);
    return { allowed: true, used: before + 1 };
  });
}
