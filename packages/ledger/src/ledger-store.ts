import type { IdempotencyRecord, ReceiptRow, Repeated } from '@tallystick/kit';

/** Money: billionths of a USDC. */
export type NanoUsdc = bigint;

/**
 * What rounding leaves over of a payer's bills: millionths of a nano-USDC, because prices are for a million
 * tokens. Carried from one bill to the next, so that nothing is lost.
 */
export type Dust = bigint;

/** A positive amount credits the account, a negative one debits it. */
export interface Entry {
  readonly account: string;
  readonly amount: NanoUsdc;
}

/** Money put aside for a call that is under way. */
export interface ReserveRequest {
  readonly id: string;
  readonly account: string;
  /** At least 0. */
  readonly amount: NanoUsdc;
  /** Unix seconds: from then on `expireReservations` gives it back. Later than any call can last. */
  readonly expiresAt: number;
  /** Id of a process whose lease, once it has ended, ends the reservation too; null where only its time does. */
  readonly process?: string | null;
}

export type ReserveOutcome =
  /**
   * With it goes the dust of the account: it is the reservation's until that ends. `available` is what the account can
   * spend beside it; null where the reservation was there before.
   */
  { readonly kind: 'reserved'; readonly dust: Dust; readonly available: NanoUsdc | null } | Insufficient;

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
  /** Among the prompt tokens. */
  readonly cachedTokens: number;
  readonly charged: NanoUsdc;
  /** Input tokens that compression took out, which are not among the prompt tokens. */
  readonly savedTokens: number;
  /** What compression saved, net of what it lost of the provider's cache. */
  readonly saving: NanoUsdc;
  /** The caller's share of that, as a credit or a discount. */
  readonly share: NanoUsdc;
}

/** What compression did for a chat call; where it changed nothing, as many tokens before as after, and no methods. */
export interface CompressionIncrement {
  readonly changed: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens that the provider could have read from its cache had the prompt not been changed. */
  readonly lostCacheTokens: number;
  /** Tokens that each method saved. */
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
  /** That it saved. */
  readonly tokens: number;
}

/** The end of a call. */
export interface Settlement {
  /** Of the posting and of the receipt. */
  readonly id: string;
  /** Null where no account of a caller is debited. */
  readonly reservationId: string | null;
  /** Unix seconds. */
  readonly at: number;
  /** Sum to 0. Only the account of the reservation may be debited among those of callers, and by no more than it. */
  readonly entries: readonly Entry[];
  /** What the reservation's account carries on: instead of the dust that the reservation came with. */
  readonly dust: Dust;
  readonly usage: UsageIncrement;
  /** Null where there was no prompt to compress: of embeddings. */
  readonly compression?: CompressionIncrement | null;
  /** The member whose job this was, if it is one. Null where the call is none, as one that is not paid. */
  readonly jobOf: string | null;
  readonly receipt: ReceiptRow;
  readonly idempotency?: IdempotencyRecord | undefined;
}

export type SettleOutcome =
  | 'settled'
  /** The same settlement came before, and nothing happened now. */
  | 'settled_before'
  /** The reservation has ended, or is smaller than the debit: reserve again, then settle. */
  | 'unreserved'
  /** A receipt of another kind has the id. */
  | 'id_taken'
  | Repeated;

/** What an operator posts: credits, transfers. */
export interface LedgerPosting {
  readonly id: string;
  readonly memo: string;
  /** Unix seconds. */
  readonly at: number;
  /** Sum to 0; each account once. */
  readonly entries: readonly Entry[];
}

export interface AccountBalance {
  readonly balance: NanoUsdc;
  /** Never more than the balance of a caller's account. */
  readonly reserved: NanoUsdc;
  readonly dust: Dust;
  /** How many entries it has. */
  readonly lines: number;
}

/** An entry of an account, in the order in which they were committed. */
export interface StatementLine {
  /** From 1, contiguous. */
  readonly line: number;
  /** Id of the posting; of a call, that of its receipt. */
  readonly posting: string;
  /** Of a call: its model. */
  readonly memo: string;
  readonly at: number;
  readonly amount: NanoUsdc;
  /** Of the account after this line. */
  readonly balance: NanoUsdc;
}

/** The calls of a day and model. */
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
  /** Completed, paid calls since. */
  readonly jobs: number;
}

export interface BalanceCheck {
  readonly postings: number;
  /** Of all entries: 0. */
  readonly sum: NanoUsdc;
  /** What contradicts itself, in words; empty when all is well. */
  readonly faults: readonly string[];
}

/**
 * Double-entry books. Errors, ordering and concurrency are those of `Store`; besides:
 *
 * Balance: every posting sums to 0, in its transaction. A caller's balance never goes below what is reserved
 * of it, whoever else writes: each decision is made on rows that are locked until it is committed.
 *
 * Durability: settlements and postings are on disk when they resolve. A reservation, or its release, outlives
 * the process, but not always the machine: it is then as if never made, and its call settles as `unreserved`.
 *
 * `reserve`, `settle` and `release` share transactions (group commit).
 */
export interface LedgerStore {
  /** An account of a caller is debited only through a reservation. The same id again gets the same reservation. */
  reserve(request: ReserveRequest): Promise<ReserveOutcome>;
  /**
   * One transaction ends the reservation, posts the entries, counts usage and job, and stores the receipt with
   * its idempotency record. Unless it answers `settled`, only the reservation ends.
   *
   * @throws {RangeError} where the entries do not sum to 0
   */
  settle(settlement: Settlement): Promise<SettleOutcome>;
  /** Gives a reservation back. One that has ended is none. */
  release(id: string): Promise<void>;
  /**
   * @throws {RangeError} where the entries do not sum to 0
   */
  post(posting: LedgerPosting): Promise<'posted' | 'posted_before' | Insufficient>;
  /** An account that was never used has nothing. */
  balance(account: string): Promise<AccountBalance>;
  /** What is put aside in all. */
  reserved(): Promise<NanoUsdc>;
  /** The lines after the line `after` (0 where it is not given), in order. */
  statement(
    account: string,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<StatementLine[]>;
  /** By day, then by model; both ends are days (`2026-03-01`) and belong to the span. */
  usage(subject: string, span?: { readonly from?: string; readonly to?: string }): Promise<UsageRow[]>;
  /** What compression did since the beginning: for one subject, or for all (null). */
  compression(subject: string | null): Promise<CompressionTotals>;
  /**
   * Gives back what has expired at `now` (unix seconds), and what processes put aside whose lease has ended (see
   * `ClaimStore`); some at a time, answers how many.
   */
  expireReservations(now: number): Promise<number>;
  /** Recomputes every sum, on one snapshot of the books. */
  checkBalanced(): Promise<BalanceCheck>;

  /** A DID that is registered already stays as it is, and is answered. */
  registerMember(member: {
    readonly did: string;
    readonly handle: string | null;
    readonly at: number;
  }): Promise<Member | 'handle_taken'>;
  member(did: string): Promise<Member | null>;
  /** Most jobs first; the older member first among equals. */
  leaderboard(limit: number): Promise<Member[]>;
}
