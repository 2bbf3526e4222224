import type { ApiKeyRow } from '@tallystick/callers';
import type { LedgerPosting, NanoUsdc } from '@tallystick/ledger';

/** USDC as the chain counts it: millionths. */
export type BaseUnits = bigint;

/** A confirmed transfer to the treasury. Times are unix seconds. */
export interface TransferRow {
  /** `<network>:<tx hash>:<ordinal>`: the same wherever a reorganisation puts the transaction. */
  readonly id: string;
  /** CAIP-2: `eip155:8453`. */
  readonly network: string;
  readonly txHash: string;
  /** From 0, of the transfers to the treasury in the transaction. */
  readonly ordinal: number;
  readonly height: number;
  readonly blockHash: string;
  readonly blockTime: number;
  readonly sender: string;
  readonly amount: BaseUnits;
  /** Hex of what follows the call of `transfer`; null where the transfer was made in another way. */
  readonly memo: string | null;
  readonly seenAt: number;
}

type TransferOutcome = 'key' | 'top_up' | 'refund' | 'x402';

export interface EndedTransfer extends TransferRow {
  /** Null, with the next two, while it is not decided. */
  readonly outcome: TransferOutcome | null;
  /** Id of the order or payout, or the account that was credited. */
  readonly reference: string | null;
  readonly endedAt: number | null;
}

/** An address that is watched. */
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
  /** Where the first cursor was: what came up to it was there before. */
  readonly firstHeight: number;
}

type OrderKind = 'key' | 'renewal' | 'top_up';
/**
 * `open`: quoted, not paid. `expired`: not paid in time. `delivering`: the key is on its way to the contact.
 * `undeliverable`: given up, for the operator to see to. `done`: nothing is left to do.
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
  /** Of the ledger, of a top-up. */
  readonly account: string | null;
  /** What an open quote asks for, exactly: no two that are open ask for the same. Null without a quote. */
  readonly amount: BaseUnits | null;
  /** A transfer's id, or the name of another payment: each pays for one order. */
  readonly payment: string | null;
  readonly createdAt: number;
  /** Of the quote. */
  readonly expiresAt: number | null;
  /** Id of the key that is issued or renewed. */
  readonly apiKey: string | null;
  readonly paidUntil: number | null;
  /** Hex of 32 bytes: with the keyring's secret it gives the key. Null once the key is delivered. */
  readonly seed: string | null;
  /** The key, sealed to the DID. */
  readonly sealed: string | null;
  readonly attempts: number;
  readonly dueAt: number | null;
  readonly problem: string | null;
  readonly deliveredAt: number | null;
}

/** What a paid order gets. */
export type OrderPaid = Pick<
  OrderRow,
  'id' | 'state' | 'payment' | 'apiKey' | 'paidUntil' | 'seed' | 'dueAt'
>;

/** How a delivery went, or that an order is left alone from now on. */
export type OrderStep = Pick<
  OrderRow,
  'id' | 'state' | 'seed' | 'sealed' | 'dueAt' | 'problem' | 'deliveredAt' | 'contact'
>;

export type PayoutKind = 'refund' | 'withdrawal';
/**
 * `waiting`: for the operator. `paying`: a signed transaction is stored, and perhaps sent. `paid`: it is confirmed.
 * `declined`: dismissed or rejected.
 */
export type PayoutState = 'waiting' | 'paying' | 'paid' | 'declined';

export interface PayoutRow {
  readonly id: string;
  readonly kind: PayoutKind;
  readonly state: PayoutState;
  readonly network: string;
  /** Of the ledger: whose money it is. */
  readonly account: string;
  /** Who gets it. */
  readonly address: string;
  readonly amount: BaseUnits;
  /** Of a refund: why. */
  readonly reason: string | null;
  /** Of a refund: what is refunded. */
  readonly transfer: string | null;
  readonly createdAt: number;
  readonly sender: string | null;
  readonly nonce: number | null;
  readonly txHash: string | null;
  readonly height: number | null;
  /** What the operator said, or what went wrong. */
  readonly note: string | null;
  readonly endedAt: number | null;
}

export interface PayoutAttempt {
  readonly payout: string;
  readonly sender: string;
  readonly nonce: number;
  readonly txHash: string;
  /** The signed raw transaction, `0x` hex: sending it again changes nothing. */
  readonly raw: string;
  /** Wei for each unit of gas, decimal. */
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
  readonly createdAt: number;
}

/** What a transfer ends as, all of it in one transaction. */
export interface TransferEnding {
  readonly transfer: string;
  readonly outcome: TransferOutcome;
  readonly reference: string;
  readonly at: number;
  /** Null where the payment layer of x402 posts it. */
  readonly posting: LedgerPosting | null;
  /** An open order that is paid with it. */
  readonly claims?: OrderPaid;
  /** An order that nobody had asked a quote for. */
  readonly order?: OrderRow;
  readonly apiKey?: ApiKeyRow;
  readonly renews?: Renewal;
  readonly refund?: PayoutRow;
}

export interface Renewal {
  readonly id: string;
  /** What its end must be, or it is a conflict. */
  readonly from: number;
  readonly to: number;
}

/**
 * What comes to the treasury and leaves it. Durability, ordering and errors are those of `Store`.
 *
 * Concurrency: each transfer ends once, an order is paid once, and a payout is paid once, whatever number of processes
 * work on them: each step is one transaction that names the state it starts from. What was overtaken changes nothing.
 */
export interface TreasuryStore {
  /** Of every address that is watched or was. */
  cursors(network: string): Promise<TreasuryCursor[]>;
  /**
   * Records transfers, those that are new, and moves the cursor, in one transaction; nothing where the cursor is no
   * longer at `from` (null: there is none yet).
   */
  record(
    watched: Watched,
    transfers: readonly TransferRow[],
    move: { readonly from: Cursor | null; readonly to: Cursor },
    opening: LedgerPosting | null,
  ): Promise<'recorded' | 'overtaken'>;
  /** Those that have not ended, oldest first. */
  undecided(network: string, limit: number): Promise<TransferRow[]>;
  /** All, in the order of their ids, a page at a time. */
  listTransfers(network: string): AsyncIterable<EndedTransfer>;
  /** `conflict`: an order or key is no longer as the ending takes it to be; decide again. */
  end(ending: TransferEnding): Promise<'ended' | 'ended_before' | 'conflict'>;

  /** `taken`: another open order asks for the same amount. */
  openOrder(order: OrderRow): Promise<'opened' | 'taken'>;
  /** Stores an order that is paid already, with its key; or answers the one that the payment has paid for. */
  issueOrder(order: OrderRow, apiKey: ApiKeyRow): Promise<OrderRow>;
  order(id: string): Promise<OrderRow | null>;
  openOrderOf(amount: BaseUnits): Promise<OrderRow | null>;
  listOrders(): AsyncIterable<OrderRow>;
  /**
   * Takes an order that is due: its `dueAt` becomes `until`, and its attempts count one more, so that nobody else takes
   * it before, and that it is taken again where this process ends. Null where none is due.
   */
  takeDue(now: number, until: number): Promise<OrderRow | null>;
  /** Moves an order from the attempt that `takeDue` answered. */
  moveOrder(step: OrderStep, attempts: number): Promise<'moved' | 'overtaken'>;

  /** Puts a caller's money aside for a withdrawal. The same id again is `requested_before`. */
  requestPayout(
    payout: PayoutRow,
    posting: LedgerPosting,
  ): Promise<
    'requested' | 'requested_before' | { readonly kind: 'insufficient'; readonly available: NanoUsdc }
  >;
  payout(id: string): Promise<PayoutRow | null>;
  listPayouts(filter?: { readonly kind?: PayoutKind; readonly account?: string }): AsyncIterable<PayoutRow>;
  /** Those of state `paying`, in the order of their nonces. */
  payoutsUnderWay(network: string): Promise<PayoutRow[]>;
  /** The greatest nonce that a payout of the account was ever signed with, or null. */
  newestNonce(network: string, sender: string): Promise<number | null>;
  /** Stores a signed transaction of a payout that is waiting. `overtaken`: it no longer is, or its nonce is taken. */
  startPayout(attempt: PayoutAttempt): Promise<'started' | 'overtaken'>;
  /** Stores one more transaction of the same nonce. */
  addPayoutAttempt(attempt: PayoutAttempt): Promise<'added' | 'overtaken'>;
  /** Oldest first. */
  payoutAttempts(id: string): Promise<PayoutAttempt[]>;
  /** Ends a payout, and posts it. */
  endPayout(
    payout: Pick<PayoutRow, 'id' | 'txHash' | 'height' | 'note'>,
    move: { readonly from: PayoutState; readonly to: 'paid' | 'declined'; readonly at: number },
    posting: LedgerPosting,
  ): Promise<'ended' | 'overtaken'>;
  /** Takes a payout back to `waiting`: its transaction failed for good, or its nonce is used by another. */
  reopenPayout(id: string, note: string): Promise<'reopened' | 'overtaken'>;
}
