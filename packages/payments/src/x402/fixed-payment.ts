import type { SettleResponse } from '@x402/core/types';
import type { PaymentRow } from '../payment-store.ts';

/** What taking a payment came to: taken, refused for a reason of x402's, or not known yet. */
export type FixedOutcome =
  | { readonly kind: 'taken'; readonly tx: string | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

/** One payment of a fixed price, by the way its scheme has. */
export interface FixedPayment {
  readonly id: string;
  readonly payer: string;
  /** JSON text. */
  readonly detail: string;
  /** Why it is not good, or null. */
  verify(): Promise<string | null>;
  /** Takes back what `verify` put aside. */
  drop(): Promise<void>;
  /** What became of one that was begun before: null where it can be begun again. */
  seen(row: PaymentRow): Promise<FixedOutcome | null>;
  take(row: PaymentRow): Promise<FixedOutcome>;
  /** Posts what was taken. Safe to repeat. */
  post(row: PaymentRow, tx: string | null): Promise<void>;
  response(row: PaymentRow): Promise<SettleResponse & { readonly payer: string }>;
}
