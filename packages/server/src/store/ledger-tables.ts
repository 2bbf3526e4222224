import type {
  AccountBalance,
  CompressionTotals,
  Dust,
  Entry,
  MethodTotal,
  NanoUsdc,
  UsageRow,
} from '@tallystick/ledger';
import type { Work } from './work.ts';

export interface Account extends AccountBalance {
  readonly account: string;
}

export interface Reservation {
  readonly id: string;
  readonly account: string;
  readonly amount: NanoUsdc;
  readonly dust: Dust;
  readonly expiresAt: number;
  /** See `ReserveRequest`. */
  readonly process: string | null;
}

export interface EntryRow extends Entry {
  readonly line: number;
  readonly posting: string;
  readonly balance: NanoUsdc;
}

export interface PostingRow {
  readonly id: string;
  readonly memo: string;
  readonly at: number;
}

export interface UsageOf extends UsageRow {
  readonly subject: string;
}

/** What compression did for a subject on a day. */
export interface CompressionOf extends Omit<CompressionTotals, 'methods'> {
  readonly subject: string;
  readonly day: string;
}

export interface MethodOf extends MethodTotal {
  readonly subject: string;
  readonly day: string;
}

/**
 * The ledger's writes of many rows, which each database does in its own way. All run inside a transaction.
 *
 * Rows are locked in one order: reservations, accounts of callers, receipts, usage and members, then the
 * accounts that everybody posts to; within each, by their keys. So no two transactions wait for each other.
 */
export interface LedgerTables {
  /** Those that are there, by id; nobody else ends them until the transaction does. */
  lockReservations(ids: readonly string[]): Work<Map<string, Reservation>>;
  insertReservations(reservations: readonly Reservation[]): Work<void>;
  deleteReservations(ids: readonly string[]): Work<void>;
  /** Takes out what has expired and what dead processes left, but nothing that another transaction holds. */
  takeExpired(now: number, limit: number): Work<Reservation[]>;
  /** Makes those that are not there. */
  openAccounts(names: readonly string[]): Work<void>;
  /** Those that are there; nobody else writes them until the transaction ends. */
  lockAccounts(names: readonly string[]): Work<Account[]>;
  setAccounts(accounts: readonly Account[]): Work<void>;
  insertPostings(postings: readonly PostingRow[]): Work<void>;
  insertEntries(entries: readonly EntryRow[]): Work<void>;
  /** Adds to what is there. Each key comes once. */
  addUsage(usage: readonly UsageOf[]): Work<void>;
  /** As `addUsage`. */
  addCompression(rows: readonly CompressionOf[]): Work<void>;
  /** As `addUsage`. */
  addMethods(rows: readonly MethodOf[]): Work<void>;
  /** Counts for those that are members. */
  addJobs(jobs: ReadonlyMap<string, number>): Work<void>;
}
