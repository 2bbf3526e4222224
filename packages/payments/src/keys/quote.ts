import { randomInt } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import type { NanoUsdc } from '@tallystick/ledger';
import { toBaseUnits } from '../treasury/units.ts';
import type { OrderRow, TreasuryStore } from '../treasury-store.ts';
import { newOrder, newOrderId } from './issue.ts';

export type QuoteRequest = Pick<OrderRow, 'kind'> &
  Partial<Pick<OrderRow, 'tier' | 'months' | 'contact' | 'did' | 'account' | 'apiKey'>>;

/** Seconds in which a quote can be paid, by the time of the block. */
const QUOTE_SECONDS = 3_600;
/** Seconds after that in which no other quote gets the amount, so that a late payment can still be matched. */
const HELD_SECONDS = 86_400;
/** Open quotes are told apart by at most five cents above the price, in base units. */
const MOST_ABOVE = 50_000;
const TRIES = 20;

/**
 * Opens an order that an exact amount pays for: the price, and up to 0.05 USDC above it that no other open quote has.
 * @param now Unix milliseconds
 * @throws unavailable where too many quotes of the price are open
 */
export async function openQuote(
  { treasury }: { readonly treasury: TreasuryStore },
  price: NanoUsdc,
  request: QuoteRequest,
  now: number,
): Promise<OrderRow & { readonly amount: bigint }> {
  const createdAt = Math.floor(now / 1000);
  const expiresAt = createdAt + QUOTE_SECONDS;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const amount = toBaseUnits(price) + BigInt(randomInt(1, MOST_ABOVE));
    const order = {
      ...newOrder({ id: newOrderId(), kind: request.kind, state: 'open', createdAt }),
      ...request,
      amount,
      expiresAt,
      dueAt: expiresAt + HELD_SECONDS,
    };
    if ((await treasury.openOrder(order)) === 'opened') return order;
  }
  throw new TallyError('unavailable', 'Too many quotes are open at the moment. Try again later.');
}
