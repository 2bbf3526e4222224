import type { JsonObject } from '@tallystick/core';
import type { IdempotencyRecord, Received, Scheme } from '@tallystick/kit';
import type { NanoUsdc } from '@tallystick/ledger';
import type { BaseUnits } from '../payment-store.ts';

/** What is to be paid for. */
export interface Order {
  /** Path of the resource, from its slash. */
  readonly path: string;
  readonly description: string;
  /** In the order in which they are offered. */
  readonly schemes: readonly Scheme[];
  /** Hex hash of all that decides the answer: a payment is good for one request. */
  readonly requestHash: string;
  /** How else the caller can pay, for the text of the refusal. When absent: a key, or a DID with a balance. Empty: no other way. */
  readonly otherwise?: string;
}

/** An order at a fixed price. */
export interface PricedOrder extends Order {
  readonly amount: BaseUnits;
  /** The ledger account that is credited. */
  readonly credit: string;
  /** For how long the same payment is good for the same request, where the answer is made anew each time. */
  readonly repeatSeconds?: number;
}

/** How an order was paid. */
export interface PaymentResult {
  readonly id: string;
  /** Address, lower case. */
  readonly payer: string;
  /** Of the chain's transaction that moved the money; null where a voucher was given, which is claimed later. */
  readonly tx: string | null;
  readonly amount: BaseUnits;
  /** What ties the answer to the payment, so that the same payment gets the same answer. */
  readonly claim: IdempotencyRecord;
  /** The receipt that an earlier request with this payment was given; null where there was none yet. */
  readonly receiptId: string | null;
  /** Notes that it was answered, and with which receipt. */
  delivered(receiptId: string | null): Promise<void>;
}

/** Money at hand for a call whose price is known only after it: an account of the payer that holds it. */
export interface OpenPayment {
  readonly id: string;
  /** Address, lower case. */
  readonly payer: string;
  /** CAIP-2. */
  readonly network: string;
  readonly account: string;
  /**
   * Takes what the call left used of the account, and gives the rest back. To be called once the call has ended and
   * its reservation too. Resolves to the settlement as x402 answers it; settles nothing twice.
   */
  finish(receiptId: string | null): Promise<JsonObject>;
}

/** A payment that came with a request, before anything of it is checked but its form. */
interface Offered {
  readonly scheme: string;
  /** Whether it has an identifier of the payer's. */
  readonly isNamed: boolean;
  /** What ties an answer to it; see `Paid.claim`. */
  readonly claim: (requestHash: string) => IdempotencyRecord;
}

/** What came of claiming vouchers. */
export interface Collected {
  readonly amount: BaseUnits;
  readonly tx: string;
}

/** What is asked about a transfer to the treasury. */
export interface TreasuryTransfer {
  readonly txHash: string;
  /** Lower case. */
  readonly sender: string;
  readonly amount: BaseUnits;
  /** Counts, from 0, the transfers to the treasury within the transaction. */
  readonly ordinal: number;
}

/**
 * x402: payments with a request. Errors of the methods that take money: `payment_required` with the requirements, also
 * for a payment that is not good; `payment_malformed`; `payment_reused` for one that paid for another request;
 * `payment_in_progress` while another process settles it; `payment_unconfirmed` where the chain does not show yet what
 * the facilitator says; `payment_owed` for a payer that has had something and not paid for it.
 */
export interface Payments {
  /** CAIP-2. */
  readonly network: string;
  readonly chainId: number;
  /** Address of the token, EIP-55. */
  readonly asset: string;
  readonly treasury: string;
  /** The schemes that the facilitator supports; asked at the first call. */
  schemes(): Promise<readonly Scheme[]>;
  /** The payment of a request; null where it carries none. @throws payment_malformed */
  offered(received: Received): Offered | null;
  /** Takes the price of an order, and notes on the answer how it was settled. @throws payment_required, which says how to pay */
  charge(received: Received, order: PricedOrder): Promise<PaymentResult>;
  /** Makes up to `ceiling` available for a call. @throws payment_required, which says how to pay */
  open(received: Received, order: Order, ceiling: NanoUsdc): Promise<OpenPayment>;
  /** The refusal of a request without payment, which says how to pay. */
  required(order: PricedOrder): Promise<Error>;
  /** Claims what vouchers are owed and has it paid to the treasury. Null where there was nothing. */
  collect(): Promise<Collected | null>;
  /** Brings to their end what was under way when a process ended. */
  sweep(): Promise<void>;
  /** Whose a transfer to the treasury is: x402's own, not yet known (`wait`), or not x402's (null). */
  ownerOf(transfer: TreasuryTransfer): Promise<'x402' | 'wait' | null>;
}

/** What callers have promised on the network and the treasury does not hold yet: minus that. */
export function promisedAccount(network: string): string {
  return `promised:${network}`;
}

/** Where the money of one payment of open price is while its call lasts. */
export function paymentAccount(id: string): string {
  return `caller:x402:${id}`;
}
