import type { ApiKeyRow } from '@tallystick/callers';
import type { LedgerPosting, NanoUsdc } from '@tallystick/ledger';

/** USDC as the chain counts it: millionths. */
export type BaseUnits = bigint;

/** A confirmed transfer to the treasury. Times are unix seconds. */
export interface TransferRow {
  /** `<network>:<tx hash>:<ordinal>`, which a reorganisation does not change. */
  readonly id: string;
  /** CAIP-2: `eip155:8453`. */
  readonly network: string;
  readonly txHash: string;
  /** Counts, from 0, the transfers to the treasury within the transaction. */
  readonly ordinal: number;
  readonly height: number;
  readonly blockHash: string;
  readonly blockTime: number;
  readonly sender: string;
  readonly amount: BaseUnits;
  /** Hex of the bytes after the calldata of `transfer`; null where the transfer was made in another way. */
  readonly memo: string | null;
  readonly seenAt: number;
}

type TransferOutcome = 'key' | 'top_up' | 'refund' | 'x402';

export interface EndedTransfer extends TransferRow {
  /** Null, as the next two are, until the transfer has ended. */
  readonly outcome: TransferOutcome | null;
  /** Id of the order or payout, or the account that was credited. */
  readonly reference: string | null;
  readonly endedAt: number | null;
}

/** An address whose transfers are watched. */
export interface Watched {
  /** CAIP-2. */
  readonly network: string;
  /** Lower case. */
  readonly treasury: string;
}

/** The block up to which transfers are recorded. */
export interface Cursor {
  readonly height: number;
  readonly blockHash: string;
}

export interface TreasuryCursor extends Cursor {
  readonly treasury: string;
  /** Height of the first cursor: earlier transfers were there before the service watched. */
  readonly firstHeight: number;
}

/** A block up to which the books were compared with the chain. */
export interface TreasuryMark extends Cursor {
  /** What the comparison has to know of those blocks to go on after them, as `marks.ts` writes it. */
  readonly state: string;
}

type OrderKind = 'key' | 'renewal' | 'top_up';
/**
 * `open`: quoted, not paid. `expired`: not paid in time. `delivering`: the key is being delivered to the contact.
 * `undeliverable`: given up, and left to the operator. `done`: nothing is left to do.
 */
type OrderState = 'open' | 'expired' | 'delivering' | 'undeliverable' | 'done';

export interface OrderRow {
  readonly id: string;
  readonly kind: OrderKind;
  readonly state: OrderState;
  readonly tier: string | null;
  readonly months: number;
  /** An e-mail address or a domain. */
  readonly contact: string | null;
  readonly did: string | null;
  /** For a top-up, the ledger account. */
  readonly account: string | null;
  /** The exact amount of an open quote; no two open quotes have the same. Null without a quote. */
  readonly amount: BaseUnits | null;
  /** The id of the transfer, or another payment's name. Each pays for one order. */
  readonly payment: string | null;
  readonly createdAt: number;
  /** When the quote expires. */
  readonly expiresAt: number | null;
  /** Id of the key that is issued or renewed. */
  readonly apiKey: string | null;
  readonly paidUntil: number | null;
  /** Hex of 32 bytes, which give the key together with the keyring's secret. Null once the key is delivered. */
  readonly seed: string | null;
  /** The key sealed to the DID. */
  readonly sealed: string | null;
  readonly attempts: number;
  readonly dueAt: number | null;
  readonly problem: string | null;
  readonly deliveredAt: number | null;
}

/** What becomes of an order when it is paid. */
export type OrderPaid = Pick<
  OrderRow,
  'id' | 'state' | 'payment' | 'apiKey' | 'paidUntil' | 'seed' | 'dueAt'
>;

/** How a delivery went, or that the order is left alone from now on. */
export type OrderStep = Pick<
  OrderRow,
  'id' | 'state' | 'seed' | 'sealed' | 'dueAt' | 'problem' | 'deliveredAt' | 'contact'
>;

export type PayoutKind = 'refund' | 'withdrawal';
/**
 * `waiting`: for the operator's decision. `paying`: a signed transaction is stored, and perhaps sent. `paid`: it is
 * confirmed. `declined`: dismissed or rejected.
 */
export type PayoutState = 'waiting' | 'paying' | 'paid' | 'declined';

export interface PayoutRow {
  readonly id: string;
  readonly kind: PayoutKind;
  readonly state: PayoutState;
  readonly network: string;
  /** Ledger account that owns the money. */
  readonly account: string;
  /** Address that is paid. */
  readonly address: string;
  readonly amount: BaseUnits;
  /** For a refund, its reason. */
  readonly reason: string | null;
  /** For a refund, the transfer that is refunded. */
  readonly transfer: string | null;
  readonly createdAt: number;
  readonly sender: string | null;
  readonly nonce: number | null;
  readonly txHash: string | null;
  readonly height: number | null;
  /** The operator's remark, or what went wrong. */
  readonly note: string | null;
  readonly endedAt: number | null;
}

/** What every payout is before it is paid. */
export const UNPAID = { sender: null, nonce: null, txHash: null, height: null, note: null, endedAt: null };

export interface PayoutAttempt {
  readonly payout: string;
  readonly sender: string;
  readonly nonce: number;
  readonly txHash: string;
  /** The signed raw transaction, `0x` hex. Sending it again has no further effect. */
  readonly raw: string;
  /** Wei for each unit of gas, decimal. */
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly createdAt: number;
}

/** How a transfer ends, all of it in one transaction. */
export interface TransferEnding {
  readonly transfer: string;
  readonly outcome: TransferOutcome;
  readonly reference: string;
  readonly at: number;
  /** Null where x402's payment code posts it. */
  readonly posting: LedgerPosting | null;
  /** The open order that the transfer pays. */
  readonly claims?: OrderPaid;
  /** An order that is paid without a quote. */
  readonly order?: OrderRow;
  readonly apiKey?: ApiKeyRow;
  readonly renews?: Renewal;
  readonly refund?: PayoutRow;
}

export interface Renewal {
  readonly id: string;
  /** `paidUntil` that the key must still have; otherwise the ending is a conflict. */
  readonly from: number;
  readonly to: number;
}

/**
 * Transfers to the treasury, orders, and payouts from it. Durability, ordering and errors are those of `Store`.
 * Concurrency: each transfer ends once, an order is paid once, and a payout is paid once, however many processes work
 * on them: each step is one transaction that names the state it starts from. A step that another one has overtaken
 * changes nothing.
 */
export interface TreasuryStore {
  /** The cursors of all addresses that are or were watched. */
  cursors(network: string): Promise<TreasuryCursor[]>;
  /**
   * Records the new ones of the transfers and moves the cursor, in one transaction. Does nothing where the cursor is no
   * longer at `from` (null: there is none yet).
   */
  record(
    watched: Watched,
    transfers: readonly TransferRow[],
    move: { readonly from: Cursor | null; readonly to: Cursor },
    opening: LedgerPosting | null,
  ): Promise<'recorded' | 'overtaken'>;
  /** The transfers that have not ended, oldest first. */
  undecided(network: string, limit: number): Promise<TransferRow[]>;
  /** The mark that was written last, or null. */
  mark(network: string): Promise<TreasuryMark | null>;
  /** Writes a mark in place of the one before. No copy of the database has it without all that was written before. */
  putMark(network: string, mark: TreasuryMark): Promise<void>;
  /** Ends a transfer. `conflict`: an order or key has changed since the ending was decided; decide again. */
  end(ending: TransferEnding): Promise<'ended' | 'ended_before' | 'conflict'>;

  /** Opens an order. `taken`: another open order has the same amount. */
  openOrder(order: OrderRow): Promise<'opened' | 'taken'>;
  /** Stores an order that is already paid, with its key; or returns the order that the payment has paid for. */
  issueOrder(order: OrderRow, apiKey: ApiKeyRow): Promise<OrderRow>;
  order(id: string): Promise<OrderRow | null>;
  openOrderOf(amount: BaseUnits): Promise<OrderRow | null>;
  /** Yields the orders that are `open`, `delivering` or `undeliverable`, oldest first, without reading others. */
  listOpenOrders(): AsyncIterable<OrderRow>;
  /** The newest orders, or the newest of those before one, newest first. */
  newestOrders(limit: number, before?: Pick<OrderRow, 'createdAt' | 'id'>): Promise<OrderRow[]>;
  /**
   * Takes an order that is due: sets its `dueAt` to `until` and counts an attempt, so that nobody else takes it until
   * then, and somebody does if this process ends. Null where none is due.
   */
  takeDue(now: number, until: number): Promise<OrderRow | null>;
  /** Changes an order that `takeDue` returned as `taken`, if nobody has taken, paid or changed the state of it since. */
  moveOrder(step: OrderStep, taken: Pick<OrderRow, 'state' | 'attempts'>): Promise<'moved' | 'overtaken'>;

  /** Holds a caller's money for a withdrawal. The same id again is `requested_before`. */
  requestPayout(
    payout: PayoutRow,
    posting: LedgerPosting,
  ): Promise<
    'requested' | 'requested_before' | { readonly kind: 'insufficient'; readonly available: NanoUsdc }
  >;
  payout(id: string): Promise<PayoutRow | null>;
  /** Yields the payouts that are `waiting` or `paying`, oldest first, without reading others. */
  listOpenPayouts(kind: PayoutKind): AsyncIterable<PayoutRow>;
  /** The newest payouts of a kind, or the newest of those before one, newest first. */
  newestPayouts(
    kind: PayoutKind,
    limit: number,
    before?: Pick<PayoutRow, 'createdAt' | 'id'>,
  ): Promise<PayoutRow[]>;
  /** The newest withdrawals of an account, newest first: those from `from` on, and before a place if one is given. */
  newestWithdrawals(
    account: string,
    page: {
      /** Unix seconds. */
      readonly from: number;
      readonly before?: Pick<PayoutRow, 'createdAt' | 'id'>;
      readonly limit: number;
    },
  ): Promise<PayoutRow[]>;
  /** The payouts in state `paying`, by nonce. */
  payoutsUnderWay(network: string): Promise<PayoutRow[]>;
  /** The greatest nonce with which a payout of the account was ever signed, or null. */
  newestNonce(network: string, sender: string): Promise<number | null>;
  /** Stores the first transaction of a waiting payout. `overtaken`: it is no longer waiting, or the nonce is taken. */
  startPayout(attempt: PayoutAttempt): Promise<'started' | 'overtaken'>;
  /** Stores one more transaction with the same nonce. */
  addPayoutAttempt(attempt: PayoutAttempt): Promise<'added' | 'overtaken'>;
  /** All transactions of a payout, oldest first. */
  payoutAttempts(id: string): Promise<PayoutAttempt[]>;
  endPayout(
    payout: Pick<PayoutRow, 'id' | 'txHash' | 'height' | 'note'>,
    move: { readonly from: PayoutState; readonly to: 'paid' | 'declined'; readonly at: number },
    posting: LedgerPosting,
  ): Promise<'ended' | 'overtaken'>;
  /** Sets a payout back to `waiting`: its transaction failed for good, or a foreign transaction used its nonce. */
  reopenPayout(id: string, note: string): Promise<'reopened' | 'overtaken'>;
}
