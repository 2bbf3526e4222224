/** How a payment is made (x402 v2). */
export const SCHEMES = ['exact', 'batch-settlement', 'upto'] as const;
export type Scheme = (typeof SCHEMES)[number];

/** What an endpoint costs who pays by x402, or from a balance. */
export interface EndpointPrice {
  /** US dollars as decimal text; by what is asked for, where that decides; null where it is known only afterwards. */
  readonly usd: string | Readonly<Record<string, string>> | null;
  /** For what. */
  readonly unit: string;
  /** How x402 pays it; by what is asked for, where that decides. */
  readonly schemes: readonly Scheme[] | Readonly<Record<string, readonly Scheme[]>>;
}

/** The codes that taking a payment throws. */
export const PAYMENT_ERRORS = [
  'payment_required',
  'payment_malformed',
  'payment_reused',
  'payment_in_progress',
  'payment_unconfirmed',
  'payment_owed',
] as const;
