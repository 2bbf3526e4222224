import { PAYMENT_ERRORS } from '@tallystick/kit';

/** Request headers of every endpoint with a price. */
export const PRICE_HEADERS = {
  'PAYMENT-SIGNATURE':
    'Where payments are on: an x402 payment, as the PAYMENT-REQUIRED of a 402 asks for it. The same payment gets the same answer.',
};

/** Headers of an answer that was paid by x402. */
export const PAYMENT_RESPONSE_HEADER = {
  'PAYMENT-RESPONSE': 'How the x402 payment was settled.',
};

/** Codes that every endpoint with a price can answer in addition. */
export const PRICE_ERRORS = [...PAYMENT_ERRORS, 'insufficient_balance', 'chain_unavailable'] as const;
