import { randomInt } from 'node:crypto';
import { TallyError } from '@tallystick/core';
import type { NanoUsdc } from '@tallystick/ledger';
import { toBaseUnits } from '../treasury/units.ts';
import type { OrderRow, TreasuryStore } from '../treasury-store.ts';
import { newOrder, newOrderId } from './issue.ts';

/** What a quote is for. */
export type QuoteRequest = Pick<OrderRow, 'kind'> &
  Partial<Pick<OrderRow, 'tier' | 'months' | 'contact' | 'did' | 'account' | 'apiKey'>>;

/** Seconds in which a quote is to be paid, by the time of the block. */
const QUOTE_SECONDS = 3_600;
/** For so long afterwards nobody else is asked for the amount, so that a late payment is known for what it is. */
const HELD_SECONDS = 86_400;
/** At most five cents above the price tell the open quotes apart. */
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
  wanted: QuoteRequest,
  now: number,
): Promise<OrderRow & { readonly amount: bigint }> {
  const createdAt = Math.floor(now / 1000);
  const expiresAt = createdAt + QUOTE_SECONDS;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const amount = toBaseUnits(price) + BigInt(randomInt(1, MOST_ABOVE));
    const order = {
      ...newOrder({ id: newOrderId(), kind: wanted.kind, state: 'open', createdAt }),
      ...wanted,
      amount,
      expiresAt,
      dueAt: expiresAt + HELD_SECONDS,
    };
    if ((await treasury.openOrder(order)) === 'opened') return order;
  }
  throw new TallyError('unavailable', 'Too many quotes are open at the moment. Try again later.');
}
