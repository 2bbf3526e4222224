import type { Lookup, Queries } from './queries.ts';
import type { Session } from './statement.ts';
import type { ConsumeOutcome, IdempotencyRecord, PutOutcome, ReceiptRow, Repeated } from './store.ts';

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
export interface SqlDatabase<S extends Session = Session> {
  readonly queries: Queries;
  /** Runs reads that see only what is committed. */
  read<T>(work: (session: S) => T | Promise<T>): Promise<T>;
  /** Runs `work` in a transaction and resolves once it is durable; rolls back when `work` throws. */
  transaction<T>(work: (session: S) => T | Promise<T>): Promise<T>;
  /** Stores receipts in a transaction; one outcome per put, in order. */
  putReceipts(session: S, puts: readonly Put[]): PutOutcome[] | Promise<PutOutcome[]>;
  /** Counts up in a transaction; one outcome per request, in order. */
  consume(session: S, requests: readonly Consume[]): ConsumeOutcome[] | Promise<ConsumeOutcome[]>;
  /** Holds off other writers of documents until the transaction ends. */
  lockDocuments(session: S): void | Promise<void>;
  isRowFault(error: unknown): boolean;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
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
