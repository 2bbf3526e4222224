import type { IdempotencyRecord, NewReceipt, Repeated } from '@tallystick/kit';
import type { Spending, SpendingWindow } from './spending.ts';

/** Money: billionths of a USDC. */
export type NanoUsdc = bigint;

/**
 * The part of a payer's bills that rounding leaves over: millionths of a nano-USDC, because prices are for a million
 * tokens. It is carried from one bill to the next, so that nothing is lost.
 */
export type Dust = bigint;

/** A positive amount credits the account, a negative one debits it. */
export interface Entry {
  readonly account: string;
  readonly amount: NanoUsdc;
}

/** A request to hold money for a call that is under way. */
export interface ReserveRequest {
  readonly id: string;
  readonly account: string;
  /** At least 0. */
  readonly amount: NanoUsdc;
  /** Unix seconds after which `expireReservations` ends the reservation; later than any call can last. */
  readonly expiresAt: number;
  /** Id of the process whose lease ends the reservation too; null where only `expiresAt` ends it. */
  readonly process?: string | null;
  /** Absent of money that no caller's budget is asked for. */
  readonly spending?: Spending;
}

export type ReserveOutcome =
  /**
   * `dust` is the account's dust, which belongs to the reservation until that ends. `available` is what the account can
   * still spend; null where the reservation existed before. `windows` are the limits after this reservation.
   */
  | {
      readonly kind: 'reserved';
      readonly dust: Dust;
      readonly available: NanoUsdc | null;
      readonly windows: readonly SpendingWindow[];
    }
  | Insufficient
  | Limited;

/** The call would pass a limit, so nothing is reserved or counted. */
export interface Limited {
  readonly kind: 'limited';
  /** The limit that would be passed: of several the one that ends last. */
  readonly by: SpendingWindow;
  /** All limits, without this call. */
  readonly windows: readonly SpendingWindow[];
}

interface Insufficient {
  readonly kind: 'insufficient';
  /** What the account could spend. */
  readonly available: NanoUsdc;
}

/** What a call adds to the usage of its caller, on the UTC day of the settlement. */
interface UsageIncrement {
  /** A DID, or the id of an API key. */
  readonly subject: string;
  /** Id in the catalogue. */
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that came from the provider's cache; they are part of the prompt tokens. */
  readonly cachedTokens: number;
  readonly charged: NanoUsdc;
  /** Input tokens that compression removed; they are not counted as prompt tokens. */
  readonly savedTokens: number;
  /** What compression saved, less the provider's cache discount that it lost. */
  readonly saving: NanoUsdc;
  /** The caller's share of the saving, as a credit or a discount. */
  readonly share: NanoUsdc;
}

/**
 * What compression did for a chat call. Where it changed nothing, the tokens before and after are equal and there are
 * no methods.
 */
export interface CompressionIncrement {
  readonly changed: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Prompt tokens that the provider could have read from its cache if compression had not changed the prompt. */
  readonly lostCacheTokens: number;
  /** Number of tokens saved by each method. */
  readonly methods: Readonly<Record<string, number>>;
}

/** Sums over all chat calls. */
export interface CompressionTotals extends Omit<CompressionIncrement, 'methods' | 'changed'> {
  readonly calls: number;
  /** Number of calls whose prompts compression changed. */
  readonly changedCalls: number;
  readonly saving: NanoUsdc;
  readonly share: NanoUsdc;
  readonly methods: readonly MethodTotal[];
}

export interface MethodTotal {
  readonly method: string;
  readonly calls: number;
  /** Tokens that the method saved. */
  readonly tokens: number;
}

/** What is booked when a call has ended. */
export interface Settlement {
  /** Id of both the posting and the receipt. */
  readonly id: string;
  /** Null where no caller's account is debited. */
  readonly reservationId: string | null;
  /** Unix seconds. */
  readonly at: number;
  /**
   * Entries that sum to 0. Of the callers' accounts only that of the reservation may be debited, and by no more than is
   * reserved.
   */
  readonly entries: readonly Entry[];
  /** The dust that the account has from now on, in place of the reservation's. */
  readonly dust: Dust;
  readonly usage: UsageIncrement;
  /** The account that the call was made as, which may list it; absent or null if nobody may. */
  readonly owner?: string | null;
  /** Ids of those in whose spending the charge counts. */
  readonly spenders?: readonly string[];
  /** Null where there was no prompt to compress, as for embeddings. */
  readonly compression?: CompressionIncrement | null;
  /** DID of the member whose completed job this is; null if the call counts as no job, for example because nothing was paid. */
  readonly jobOf: string | null;
  readonly receipt: NewReceipt;
  readonly idempotency?: IdempotencyRecord | undefined;
}

export type SettleOutcome =
  | 'settled'
  /** The settlement was booked before, and nothing happened now. */
  | 'settled_before'
  /** The reservation has ended, or is smaller than the debit: reserve again, then settle. */
  | 'unreserved'
  /** Another receipt has the id. */
  | 'id_taken'
  /** Another receipt has the place in the session. */
  | 'place_taken'
  | Repeated;

/** A posting by an operator, such as a credit. */
export interface LedgerPosting {
  readonly id: string;
  readonly memo: string;
  /** Unix seconds. */
  readonly at: number;
  /** Entries that sum to 0, with each account at most once. */
  readonly entries: readonly Entry[];
}

export interface AccountBalance {
  readonly balance: NanoUsdc;
  /**
   * Amount held by reservations, and by other processes in advance of some; never more than the balance of a caller's
   * account.
   */
  readonly reserved: NanoUsdc;
  readonly dust: Dust;
  /** Number of the account's entries. */
  readonly lines: number;
}

/** An entry of an account. Lines are numbered in the order of their commits. */
export interface StatementLine {
  /** From 1, contiguous. */
  readonly line: number;
  /** Id of the posting; for a call, the id of its receipt. */
  readonly posting: string;
  /** For a call, its model. */
  readonly memo: string;
  readonly at: number;
  readonly amount: NanoUsdc;
  /** Balance of the account after this line. */
  readonly balance: NanoUsdc;
}

/** The calls of one day and model, added up. */
export interface UsageRow extends Omit<UsageIncrement, 'subject'> {
  /** UTC, `2026-03-01`. */
  readonly day: string;
  readonly calls: number;
}

export interface Member {
  readonly did: string;
  readonly handle: string | null;
  /** Unix seconds. */
  readonly registeredAt: number;
  /** Number of completed, paid calls since the registration. */
  readonly jobs: number;
}

export interface BalanceCheck {
  readonly postings: number;
  /** Sum of all entries; must be 0. */
  readonly sum: NanoUsdc;
  /** Contradictions in the books, in words; empty when there are none. */
  readonly faults: readonly string[];
}

/**
 * Double-entry books. Errors, ordering and concurrency are those of `Store`; besides:
 * Balance: every posting sums to 0, in its transaction. A caller's balance never falls below what is reserved of it,
 * whoever else writes: each decision is made on rows that are locked until the commit.
 * Durability: settlements and postings are on disk when they resolve. A reservation, or its release, survives the
 * process, but not always the machine: it may then never have been made, and its call settles as `unreserved`.
 * Limits: what is charged to a spender and what its calls have reserved never pass its budget together, whichever processes
 * reserve; the requests and tokens of a minute are counted likewise.
 * Slices: a process with a lease (see `ClaimStore`) may hold a part of an account in advance, and reserve out of it without
 * a transaction. It gives back what calls do not hold where the money is short.
 * `reserve`, `settle` and `release` share transactions (group commit).
 */
export interface LedgerStore {
  /** Reserves money; a caller's account is debited in no other way. The same id again returns the same reservation. */
  reserve(request: ReserveRequest): Promise<ReserveOutcome>;
  /**
   * Ends the reservation, posts the entries, counts usage and job, and stores the receipt with its idempotency record,
   * in one transaction. Unless it returns `settled`, only the reservation ends.
   * @throws {RangeError} where the entries do not sum to 0
   */
  settle(settlement: Settlement): Promise<SettleOutcome>;
  /** Ends a reservation without a debit. Ending it twice does nothing. */
  release(id: string): Promise<void>;
  /** Posts entries. @throws {RangeError} where they do not sum to 0 */
  post(posting: LedgerPosting): Promise<'posted' | 'posted_before' | Insufficient>;
  /** When a posting was made, in unix seconds; null where there is none. */
  postedAt(posting: string): Promise<number | null>;
  /** The balance of an account; zero where it was never used. */
  balance(account: string): Promise<AccountBalance>;
  /** Total of all reservations. */
  reserved(): Promise<NanoUsdc>;
  /** The statement lines of an account after the line `after` (default 0), in order. */
  statement(
    account: string,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<StatementLine[]>;
  /** Usage by day, then by model. Both ends of the span are days (`2026-03-01`), and included. */
  usage(subject: string, span?: { readonly from?: string; readonly to?: string }): Promise<UsageRow[]>;
  /** Totals of compression of all time: for one subject, or for all (null). */
  compression(subject: string | null): Promise<CompressionTotals>;
  /** What the calls of a spender were charged since midnight (UTC) of `now` (unix seconds), and in that month. */
  spent(
    spenders: readonly string[],
    now: number,
  ): Promise<ReadonlyMap<string, { readonly day: NanoUsdc; readonly month: NanoUsdc }>>;
  /**
   * Ends reservations that have expired at `now` (unix seconds), or whose process has lost its lease (see
   * `ClaimStore`). Ends a limited number at a time, and returns how many.
   */
  expireReservations(now: number): Promise<number>;
  /** Recomputes every sum on one snapshot of the books. */
  checkBalanced(): Promise<BalanceCheck>;

  /** Registers a member. A DID that is registered already is returned unchanged. */
  registerMember(member: {
    readonly did: string;
    readonly handle: string | null;
    readonly at: number;
  }): Promise<Member | 'handle_taken'>;
  member(did: string): Promise<Member | null>;
  /** The members with most jobs first; among equals, the older member first. */
  leaderboard(limit: number): Promise<Member[]>;
}
