import { PAYMENT_ERRORS } from '@tallystick/kit';

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
