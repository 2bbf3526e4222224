import { hash } from 'node:crypto';
import { canonicalize, TallyError } from '@tallystick/core';
import type { IdempotencyRecord } from '@tallystick/kit';
import { Refusal } from '@tallystick/kit';
import type { PaymentRow } from '../payment-store.ts';

/** What is stored of every payment, whatever its scheme. */
export interface Detail {
  readonly proof: string;
  readonly credit: string;
  /** Height of the chain when the payment was first seen. */
  readonly fromBlock: number;
}

export function detailOf(row: PaymentRow): Detail {
  return JSON.parse(row.detail) as Detail;
}

/** Whether the request carries the very payment of the row, not one that only looks like it. */
export function holds(row: PaymentRow, { proof }: { readonly proof: string }): boolean {
  return detailOf(row).proof === proof;
}

/** Seconds for which an answer is repeated for the same payment. */
const TTL_SECONDS = 72 * 60 * 60;

/**
 * Ties an answer to a payment and a request. It includes the payment's proof, so only who holds the payment, or reads it on the
 * chain, and knows the request can ask for the answer. `now` is in unix seconds.
 */
export function claimOf(proof: string, requestHash: string, now: number): IdempotencyRecord {
  return {
    scope: hash('sha256', canonicalize(['x402', proof, requestHash])),
    requestHash,
    expiresAt: now + TTL_SECONDS,
  };
}

/** The unique key of a payment that a payer has given an identifier. */
export function identifierOf(payer: string, identifier: string | null): string | null {
  return identifier === null ? null : hash('sha256', canonicalize(['x402', payer, identifier]));
}

/** @throws payment_reused where it paid for another request */
export function requireSameRequest(row: PaymentRow, requestHash: string): void {
  if (row.requestHash === requestHash) return;
  throw new TallyError(
    'payment_reused',
    'This payment, or its identifier, was already used with a different request. Make a new payment, or send the same request.',
  );
}

export function inProgress(): Refusal {
  return new Refusal(
    'payment_in_progress',
    'This payment is being settled. Send the same request with the same payment again.',
    { retryAfter: 2 },
  );
}

export function unconfirmed(): Refusal {
  return new Refusal(
    'payment_unconfirmed',
    'The chain does not show the payment yet. Send the same request with the same payment again: the payment is taken only once.',
    { retryAfter: 5 },
  );
}
