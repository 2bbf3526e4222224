import type { SettleResponse } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';

/** The result of taking a payment: taken, refused for one of x402's reasons, or not known yet. */
export type FixedOutcome =
  | { readonly kind: 'taken'; readonly tx: string | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

/** One payment of a fixed price, in its scheme. */
export interface FixedPayment {
  readonly id: string;
  readonly payer: string;
  /** JSON text. */
  readonly detail: string;
  /** Checks the payment. Returns why it is refused, or null. */
  verify(): Promise<string | null>;
  /** Releases what `verify` reserved. */
  drop(): Promise<void>;
  /** The outcome of a payment that was begun before; null where it can be begun again. */
  seen(row: PaymentRow): Promise<FixedOutcome | null>;
  take(row: PaymentRow): Promise<FixedOutcome>;
  /** Posts the payment that was taken. Safe to repeat. */
  post(row: PaymentRow, tx: string | null): Promise<void>;
  response(row: PaymentRow): Promise<SettleResponse & { readonly payer: string }>;
}
