import { Bulk } from './bulk.ts';
import { type ClaimTables, claimTables } from './claim-tables.ts';
import { type Counters, openCounters } from './counters.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { type LedgerTables, ledgerTables } from './ledger-tables.ts';
import { type LogTables, logTables } from './log-tables.ts';
import { type Queries, sharedQueries } from './queries.ts';
import { type ReceiptTables, receiptTables } from './receipt-tables.ts';
import type { Compiler } from './statement.ts';

export type Durability = 'durable' | 'relaxed';

/** `served`: somebody waits for the answer, so that it must come soon or fail. `unhurried`: it may take its time. */
type Pace = 'served' | 'unhurried';

/** The statements that all databases share. */
export interface SharedStatements {
  readonly queries: Queries;
  readonly counters: Counters;
  readonly receiptTables: ReceiptTables;
  readonly logTables: LogTables;
  readonly ledgerTables: LedgerTables;
  readonly claimTables: ClaimTables;
}

export function sharedStatements(db: Compiler, dialect: Dialect): SharedStatements {
  const bulk = new Bulk(db, dialect);
  return {
    queries: sharedQueries(db, dialect),
    counters: openCounters(bulk),
    receiptTables: receiptTables(bulk),
    logTables: logTables(bulk, dialect),
    ledgerTables: ledgerTables(bulk, dialect),
    claimTables: claimTables(bulk, dialect),
  };
}

/** A SQL database, with the parts in which databases differ. */
export interface SqlDatabase extends SharedStatements {
  /** Runs work that only reads. It sees everything that is committed. */
  readonly read: <T>(work: Work<T>, pace?: Pace) => Promise<T>;
  /**
   * Runs work in a transaction and resolves once it is durable; rolls back when it throws. A `relaxed` one is visible
   * to all and survives this process at once, but survives the machine only once a durable one has followed.
   */
  transaction<T>(work: Work<T>, durability?: Durability): Promise<T>;
  /** The positions, from 0, of those hashes that have a leaf, in any order. Every hash must be 32 bytes. One statement. */
  positionsOfLeaves(hashes: readonly Uint8Array[]): Work<number[]>;
  /** Keeps others from writing documents until the transaction ends. */
  lockDocuments(): Work<void>;
  isRowFault(error: unknown): boolean;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}
