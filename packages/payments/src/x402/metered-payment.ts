import type { PaymentRow } from '../payment-store.ts';
import { respond } from './x402-context.ts';

/** What making money available came to. */
type MeteredOutcome =
  | { readonly kind: 'made'; readonly tx: string | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

/** A payment whose call has ended. */
export interface EndedPayment extends PaymentRow {
  /** Id of the receipt of the settlement, where that followed the delivery. */
  readonly settlementReceipt?: string;
}

/** One payment of open price, by the way its scheme has. */
export interface MeteredMeans {
  readonly id: string;
  readonly payer: string;
  /** Holds the money while the call lasts. */
  readonly account: string;
  /** JSON text. */
  readonly detail: string;
  /** Why it is not good, or null: then the payer is kept from spending the same twice. */
  verify(): Promise<string | null>;
  drop(): Promise<void>;
  /** Makes sure that the money is there. */
  secure(): Promise<MeteredOutcome>;
  /** Takes what the row says was used. Resolves to the row as it then is. */
  take(row: PaymentRow, receiptId: string | null): Promise<EndedPayment>;
  response(row: EndedPayment): Promise<Parameters<typeof respond>[3]>;
}
