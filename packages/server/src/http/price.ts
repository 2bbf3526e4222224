import { PAYMENT_ERRORS, type Scheme } from '../payments/x402/payments.ts';

/** What an endpoint costs who pays by x402, or from a balance. */
export interface EndpointPrice {
  /** US dollars as decimal text; by what is asked for, where that decides; null where it is known only afterwards. */
  readonly usd: string | Readonly<Record<string, string>> | null;
  /** For what. */
  readonly unit: string;
  /** How x402 pays it; by what is asked for, where that decides. */
  readonly schemes: readonly Scheme[] | Readonly<Record<string, readonly Scheme[]>>;
}

/** Request headers of every endpoint with a price. */
export const PRICE_HEADERS = {
  'PAYMENT-SIGNATURE':
    'Where payments are on: an x402 payment, as the PAYMENT-REQUIRED of a 402 asks for it. The same payment gets the same answer.',
};

/** What an answer that was paid for by x402 carries. */
export const PAYMENT_RESPONSE_HEADER = {
  'PAYMENT-RESPONSE': 'How the x402 payment was settled.',
};

/** What every endpoint with a price can refuse, besides. */
export const PRICE_ERRORS = [...PAYMENT_ERRORS, 'insufficient_balance', 'chain_unavailable'] as const;
