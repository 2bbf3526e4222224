import type {
  AccountBalance,
  CompressionTotals,
  Dust,
  Entry,
  Member,
  MethodTotal,
  NanoUsdc,
  UsageRow,
} from '@tallystick/ledger';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { ofDeadProcess } from './ledger-queries.ts';
import { pick, table } from './table.ts';

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
  /** In whose spending the call counts: the caller, and the account's owner if that is another. */
  readonly spender: string | null;
  readonly owner: string | null;
  /** Tokens that are counted for the call in this minute (since the epoch); 0 where none are limited. */
  readonly tokens: number;
  readonly minute: number;
  /** Null of the reservation of one call. */
  readonly slice: SliceStage | null;
}

/**
 * A slice is a reservation that its process gives to calls out of memory: `open` to new calls; `recalled` by somebody who
 * needs the money; `ending` once it is down to what calls still hold.
 */
type SliceStage = 'open' | 'recalled' | 'ending';

/** What a spender was charged on a UTC day. */
export interface SpendingOf {
  readonly spender: string;
  readonly day: string;
  readonly charged: NanoUsdc;
}

export interface EntryRow extends Entry {
  readonly line: number;
  readonly posting: string;
  readonly balance: NanoUsdc;
}

interface PostingRow {
  readonly id: string;
  readonly memo: string;
  readonly at: number;
  readonly owner: string | null;
}

export interface UsageOf extends UsageRow {
  readonly subject: string;
}

/** What compression did for a subject on one day. */
export interface CompressionOf extends Omit<CompressionTotals, 'methods'> {
  readonly subject: string;
  readonly day: string;
}

export interface MethodOf extends MethodTotal {
  readonly subject: string;
  readonly day: string;
}

/**
 * The ledger's statements about many rows. All run inside a transaction. Rows are locked in one order: reservations,
 * counters of limits, accounts of callers, receipts, usage and members, then the accounts that all settlements post to; within each, by
 * key. So no two transactions wait for each other.
 */
export interface LedgerTables {
  /** Locks those reservations that exist, so that nobody else ends them before the transaction does. By id. */
  lockReservations(ids: readonly string[]): Work<Map<string, Reservation>>;
  insertReservations(reservations: readonly Reservation[]): Work<unknown>;
  setSlices(slices: readonly Reservation[]): Work<unknown>;
  deleteReservations(ids: readonly string[]): Work<void>;
  /**
   * Deletes and returns reservations that have expired or belong to dead processes, unless another transaction has
   * locked them.
   */
  takeExpired(until: { readonly now: number; readonly limit: number }): Work<Reservation[]>;
  /** Creates those accounts that do not exist. */
  openAccounts(names: readonly string[]): Work<unknown>;
  /** Locks those accounts that exist: nobody else writes them until the transaction ends. */
  lockAccounts(names: readonly string[]): Work<Account[]>;
  setAccounts(accounts: readonly Account[]): Work<unknown>;
  insertPostings(postings: readonly PostingRow[]): Work<unknown>;
  insertEntries(entries: readonly EntryRow[]): Work<unknown>;
  /** Adds to the stored usage. Each key comes once. */
  addUsage(usage: readonly UsageOf[]): Work<unknown>;
  /** Adds to what is spent. Each key comes once. */
  addSpending(rows: readonly SpendingOf[]): Work<unknown>;
  addCompression(rows: readonly CompressionOf[]): Work<unknown>;
  addMethods(rows: readonly MethodOf[]): Work<unknown>;
  /** Counts jobs for those DIDs that are members. */
  addJobs(jobs: ReadonlyMap<string, number>): Work<unknown>;
}

const RESERVATIONS = table<Reservation>('reservations', ['id'], {
  id: 'text',
  account: 'text',
  amount: 'money',
  dust: 'money',
  expiresAt: 'integer',
  process: 'text',
  spender: 'text',
  owner: 'text',
  tokens: 'integer',
  minute: 'integer',
  slice: 'text',
});

const SLICES = pick(RESERVATIONS, ['id', 'amount', 'dust', 'slice']);

const SPENDING = table<SpendingOf>('spending', ['spender', 'day'], {
  spender: 'text',
  day: 'text',
  charged: 'money',
});

const ACCOUNTS = table<Account>('accounts', ['account'], {
  account: 'text',
  balance: 'money',
  reserved: 'money',
  dust: 'money',
  lines: 'integer',
});

const ACCOUNT_NAMES = pick(ACCOUNTS, ['account']);

const POSTINGS = table<PostingRow>('ledger_postings', ['id'], {
  id: 'text',
  memo: 'text',
  at: 'integer',
  owner: 'text',
});

const ENTRIES = table<EntryRow>('ledger_entries', ['account', 'line'], {
  account: 'text',
  line: 'integer',
  posting: 'text',
  amount: 'money',
  balance: 'money',
});

const USAGE = table<UsageOf>('usage_days', ['subject', 'day', 'model'], {
  subject: 'text',
  day: 'text',
  model: 'text',
  calls: 'integer',
  promptTokens: 'integer',
  completionTokens: 'integer',
  cachedTokens: 'integer',
  charged: 'money',
  savedTokens: 'integer',
  saving: 'money',
  share: 'money',
});

const COMPRESSION = table<CompressionOf>('compression_days', ['subject', 'day'], {
  subject: 'text',
  day: 'text',
  calls: 'integer',
  changedCalls: 'integer',
  tokensBefore: 'integer',
  tokensAfter: 'integer',
  lostCacheTokens: 'integer',
  saving: 'money',
  share: 'money',
});

const METHODS = table<MethodOf>('compression_method_days', ['subject', 'day', 'method'], {
  subject: 'text',
  day: 'text',
  method: 'text',
  calls: 'integer',
  tokens: 'integer',
});

const MEMBER_JOBS = table<Pick<Member, 'did' | 'jobs'>>('members', ['did'], { did: 'text', jobs: 'integer' });

export function ledgerTables(bulk: Bulk, { now, skipLocked, soleWriter }: Dialect): LedgerTables {
  const lockReservations = bulk.lock(RESERVATIONS);
  const openAccounts = bulk.insertOr(ACCOUNT_NAMES, sql`nothing`);
  const lockMembers = bulk.lock(MEMBER_JOBS);
  const addJobs = bulk.increase(MEMBER_JOBS);
  return {
    *lockReservations(ids) {
      return new Map((yield* lockReservations(ids)).map((row) => [row.id, row]));
    },
    insertReservations: bulk.insert(RESERVATIONS),
    setSlices: bulk.update(SLICES),
    deleteReservations: bulk.remove(RESERVATIONS),
    takeExpired: bulk.take(
      RESERVATIONS,
      (v: { now: number; limit: number }) => sql`
        select id from reservations where expires_at <= ${v.now} or ${ofDeadProcess(now)}
        order by expires_at limit ${v.limit} ${skipLocked}`,
    ),
    openAccounts: (names) => openAccounts(names.map((account) => ({ account }))),
    lockAccounts: bulk.lock(ACCOUNTS),
    setAccounts: bulk.update(ACCOUNTS),
    insertPostings: bulk.insert(POSTINGS),
    insertEntries: bulk.insert(ENTRIES),
    addUsage: bulk.add(USAGE),
    addSpending: bulk.add(SPENDING),
    addCompression: bulk.add(COMPRESSION),
    addMethods: bulk.add(METHODS),
    *addJobs(jobs) {
      if (!soleWriter) yield* lockMembers([...jobs.keys()]);
      yield* addJobs([...jobs].map(([did, count]) => ({ did, jobs: count })));
    },
  };
}
