import type { ConsumeOutcome, IdempotencyRecord, PutOutcome, ReceiptRow, Repeated } from '@tallystick/kit';
import type { ClaimTables } from './claim-tables.ts';
import { type Counters, lockUsed, saveUsed } from './counters.ts';
import type { LedgerTables } from './ledger-tables.ts';
import type { LogTables } from './log-tables.ts';
import type { Lookup, Queries } from './queries.ts';
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

export type Durability = 'durable' | 'relaxed';

/** Whether somebody waits for the answer, so that it has to come soon or not at all; or it may take its time. */
export type Pace = 'served' | 'unhurried';

/** What differs between SQL databases. */
export interface SqlDatabase {
  readonly queries: Queries;
  readonly counters: Counters;
  readonly logTables: LogTables;
  readonly ledgerTables: LedgerTables;
  readonly claimTables: ClaimTables;
  /** Runs work that only reads; it sees what is committed. */
  read<T>(work: Work<T>, pace?: Pace): Promise<T>;
  /**
   * Runs work in a transaction and resolves once it is durable; rolls back when it throws. A `relaxed` one is
   * seen by all and outlives this process at once, but the machine only once a durable one has followed.
   */
  transaction<T>(work: Work<T>, durability?: Durability): Promise<T>;
  /** Stores receipts, inside a transaction: one outcome per put, in their order. */
  putReceipts(puts: readonly Put[]): Work<PutOutcome[]>;
  /** Holds off other writers of documents until the transaction ends. */
  lockDocuments(): Work<void>;
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

/** Counts up, one request after the other. */
export function* consume(counters: Counters, requests: readonly Consume[]): Work<ConsumeOutcome[]> {
  const before = yield* lockUsed(counters, requests);
  const after = new Map(before);
  const outcomes = requests.map(({ counter, limit }) => {
    const used = after.get(counter) ?? 0;
    if (used >= limit) return { allowed: false, used };
    after.set(counter, used + 1);
    return { allowed: true, used: used + 1 };
  });
  yield* saveUsed(counters, requests, before, after);
  return outcomes;
}
