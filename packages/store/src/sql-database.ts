import { Bulk } from './bulk.ts';
import { type CallTables, callTables } from './call-tables.ts';
import { type ClaimTables, claimTables } from './claim-tables.ts';
import { type Counters, openCounters } from './counters.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { type LearningTables, learningTables } from './learning-tables.ts';
import { type LedgerTables, ledgerTables } from './ledger-tables.ts';
import { type LogTables, logTables } from './log-tables.ts';
import { type Queries, sharedQueries } from './queries.ts';
import { type ReceiptListTables, receiptListTables } from './receipt-list-tables.ts';
import { type ReceiptTables, receiptTables } from './receipt-tables.ts';
import type { Compiler } from './statement.ts';
import { type StatusTables, statusTables } from './status-tables.ts';

/**
 * `remade` is durable where the database can end without this process, and else relaxed: for rows that a process makes again when it
 * starts after the machine's end.
 */
export type Durability = 'durable' | 'remade' | 'relaxed';

/** `served`: somebody waits for the answer, so that it must come soon or fail. `unhurried`: it may take its time. */
type Pace = 'served' | 'unhurried';

/** The statements that all databases share. */
export interface SharedStatements {
  readonly queries: Queries;
  readonly counters: Counters;
  readonly receiptTables: ReceiptTables;
  readonly receiptListTables: ReceiptListTables;
  readonly logTables: LogTables;
  readonly ledgerTables: LedgerTables;
  readonly claimTables: ClaimTables;
  readonly learningTables: LearningTables;
  readonly callTables: CallTables;
  readonly statusTables: StatusTables;
}

export function sharedStatements(db: Compiler, dialect: Dialect): SharedStatements {
  const bulk = new Bulk(db, dialect);
  return {
    queries: sharedQueries(db, dialect),
    counters: openCounters(bulk),
    receiptTables: receiptTables(db, bulk, dialect),
    receiptListTables: receiptListTables(bulk, dialect),
    logTables: logTables(bulk, dialect),
    ledgerTables: ledgerTables(bulk, dialect),
    claimTables: claimTables(bulk, dialect),
    learningTables: learningTables(bulk),
    callTables: callTables(bulk, dialect),
    statusTables: statusTables(bulk),
  };
}

/** A SQL database, with the parts in which databases differ. */
export interface SqlDatabase extends SharedStatements {
  /** Runs work that only reads. It sees everything that is committed. */
  readonly read: <T>(work: Work<T>, pace?: Pace) => Promise<T>;
  /**
   * Runs work in a transaction and resolves once it is durable; rolls back when it throws. A `relaxed` one is visible
   * to all and survives this process at once, but survives the database's own crash, or the machine's, only once a
   * durable one has followed. It is for what a process that lives on would write again, or nobody misses.
   * @param work begins the work; called again where the database rolled everything back in favour of another transaction
   */
  transaction<T>(work: () => Work<T>, durability?: Durability): Promise<T>;
  /** Of those hashes that have a leaf the position, from 0, and the leaf's index, in any order. Every hash must be 32 bytes. One statement. */
  indexesOfLeaves(hashes: readonly Uint8Array[]): Work<{ position: number; index: number }[]>;
  /** Keeps others from writing documents until the transaction ends. */
  lockDocuments(): Work<void>;
  isRowFault(error: unknown): boolean;
  /**
   * A number that is another one once another connection, of whatever process, has committed anything; null where the
   * database cannot tell that without being asked over the network.
   */
  outsideVersion(): number | null;
  /** See `Store`. */
  giveBack(pages: number): Promise<number>;
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}
