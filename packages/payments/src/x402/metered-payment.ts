import type { PaymentRow } from '../payment-store.ts';
import { respond } from './x402-context.ts';

/** The result of making money available for a call. */
type MeteredOutcome =
  | { readonly kind: 'made'; readonly tx: string | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

/** A payment whose call has ended. */
export interface EndedPayment extends PaymentRow {
  /** Id of the receipt of the settlement, where that followed the delivery. */
  readonly settlementReceipt?: string;
}

/** One payment of open price, in its scheme. */
export interface MeteredPayment {
  readonly id: string;
  readonly payer: string;
  /** The account that holds the money during the call. */
  readonly account: string;
  /** JSON text. */
  readonly detail: string;
  /** Checks the payment. Returns why it is refused; or null, and then the payer cannot spend the same twice. */
  verify(): Promise<string | null>;
  drop(): Promise<void>;
  /** Makes sure that the money is available. */
  secure(): Promise<MeteredOutcome>;
  /** Takes the amount that the row says was used. Resolves to the row as it is then. */
  take(row: PaymentRow, receiptId: string | null): Promise<EndedPayment>;
  response(row: EndedPayment): Promise<Parameters<typeof respond>[3]>;
}
