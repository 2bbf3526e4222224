import type { JsonObject } from '@tallystick/core';
import type { IdempotencyRecord, Received, Scheme } from '@tallystick/kit';
import type { NanoUsdc } from '@tallystick/ledger';
import type { BaseUnits } from '../payment-store.ts';

/** What a request has to pay for. */
export interface Order {
  /** Path of the resource, from its slash. */
  readonly path: string;
  readonly description: string;
  /** The schemes in the order in which they are offered. */
  readonly schemes: readonly Scheme[];
  /** Hex hash of everything that decides the answer: a payment is good for one request. */
  readonly requestHash: string;
  /**
   * How else the caller can pay, for the text of the refusal. If absent: an API key, or a DID with a balance. Empty: no
   * other way.
   */
  readonly otherwise?: string;
}

/** An order at a fixed price. */
export interface PricedOrder extends Order {
  readonly amount: BaseUnits;
  /** The ledger account that is credited. */
  readonly credit: string;
  /** Seconds for which the same payment is good for the same request, where the answer is made anew each time. */
  readonly repeatSeconds?: number;
}

/** How an order was paid. */
export interface PaymentResult {
  readonly id: string;
  /** Address, lower case. */
  readonly payer: string;
  /** Hash of the transaction that moved the money; null for a voucher, which is claimed later. */
  readonly tx: string | null;
  readonly amount: BaseUnits;
  /** Ties the answer to the payment, so that the same payment gets the same answer. */
  readonly claim: IdempotencyRecord;
  /**
   * Whether a secret that the payment bought may be in the answer. Whoever reads the chain can send a settled payment again, but does not
   * know the identifier that its payer gave it; what was paid without one is shown until it has been delivered.
   */
  readonly isConfidential: boolean;
  /** Id of the receipt that an earlier request with this payment got; null where there was none. */
  readonly receiptId: string | null;
  /** Stores that the request was answered, and with which receipt. */
  delivered(receiptId: string | null): Promise<void>;
}

/** Money made available for a call whose price is known only afterwards, in an account of the payer. */
export interface OpenPayment {
  readonly id: string;
  /** Address, lower case. */
  readonly payer: string;
  /** CAIP-2. */
  readonly network: string;
  readonly account: string;
  /**
   * Takes what the call used of the account, and gives the rest back. It must be called once both the call and its
   * reservation have ended. Resolves to the settlement in x402's form; settles nothing twice.
   */
  finish(receiptId: string | null): Promise<JsonObject>;
}

/** A payment that came with a request. Only its form is checked. */
interface Offered {
  readonly scheme: string;
  /** Address of the wallet that it says it is of, in lower case; null for a scheme or form that has no fixed price. */
  readonly payer: string | null;
  /** Whether the payer gave it an identifier. */
  readonly isNamed: boolean;
  /** Ties an answer to it; see `PaymentResult.claim`. */
  readonly claim: (requestHash: string) => IdempotencyRecord;
}

/** The result of claiming vouchers. */
export interface Collected {
  readonly amount: BaseUnits;
  readonly tx: string;
}

/** A transfer to the treasury whose owner is asked for. */
export interface TreasuryTransfer {
  readonly txHash: string;
  /** Lower case. */
  readonly sender: string;
  readonly amount: BaseUnits;
  /** Counts, from 0, the transfers to the treasury within the transaction. */
  readonly ordinal: number;
}

/**
 * x402: payments that come with a request.
 * Errors of the methods that take money: `payment_required` with the requirements, also for a payment that is refused;
 * `payment_malformed`; `payment_reused` for one that paid for another request; `payment_in_progress` while another
 * process settles it; `payment_unconfirmed` where the chain does not show yet what the facilitator reports;
 * `payment_owed` for a payer that still owes for an earlier delivery.
 */
export interface Payments {
  /** CAIP-2. */
  readonly network: string;
  readonly chainId: number;
  /** Address of the token, EIP-55. */
  readonly asset: string;
  readonly treasury: string;
  /** The schemes that the facilitator supports. The first call asks it. */
  schemes(): Promise<readonly Scheme[]>;
  /** Reads the payment of a request; null where it has none. @throws payment_malformed */
  offered(received: Received): Offered | null;
  /** Takes the price of an order, and notes its settlement for the response. @throws payment_required, which says how to pay */
  charge(received: Received, order: PricedOrder): Promise<PaymentResult>;
  /** Makes up to `ceiling` available for a call. @throws payment_required, which says how to pay */
  open(received: Received, order: Order, ceiling: NanoUsdc): Promise<OpenPayment>;
  /** The refusal of a request without payment, which says how to pay. */
  required(order: PricedOrder): Promise<Error>;
  /** Claims on the chain what vouchers promise, and has it paid to the treasury. Null where there was nothing. */
  collect(): Promise<Collected | null>;
  /** Finishes payments that were under way when their process ended. */
  sweep(): Promise<void>;
  /** Whose a transfer to the treasury is: x402's, not yet known (`wait`), or not x402's (null). */
  ownerOf(transfer: TreasuryTransfer): Promise<'x402' | 'wait' | null>;
}

/** The account of what callers have promised on a network and the treasury has not yet received, as a negative balance. */
export function promisedAccount(network: string): string {
  return `promised:${network}`;
}

/** The account that holds the money of one payment of open price during its call. */
export function paymentAccount(id: string): string {
  return `caller:x402:${id}`;
}
