/** How a payment is made (x402 v2). */
export const SCHEMES = ['exact', 'batch-settlement', 'upto'] as const;
export type Scheme = (typeof SCHEMES)[number];

/** The price of an endpoint, paid by x402 or from a balance. */
export interface EndpointPrice {
  /** US dollars as decimal text; by variant, if the request decides; null if known only after the call. */
  readonly usd: string | Readonly<Record<string, string>> | null;
  /** The unit that the price is for. */
  readonly unit: string;
  /** The x402 schemes that can pay it; by variant, if the request decides. */
  readonly schemes: readonly Scheme[] | Readonly<Record<string, readonly Scheme[]>>;
}

/** The error codes of taking a payment. */
export const PAYMENT_ERRORS = [
  'payment_required',
  'payment_malformed',
  'payment_reused',
  'payment_in_progress',
  'payment_unconfirmed',
  'payment_owed',
] as const;
