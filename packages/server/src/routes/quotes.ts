import { z } from '@hono/zod-openapi';
import { formatTimestamp, TallyError } from '@tallystick/core';
import { formatUsdc } from '../compute/ledger/money.ts';
import type { Exchange } from '../http/exchange.ts';
import { consumeDaily } from '../http/rate-limit.ts';
import type { Money } from '../payments/chain/open.ts';
import { nanoOf } from '../payments/treasury/units.ts';
import type { Services } from '../services.ts';
import type { OrderRow } from '../store/treasury-store.ts';

/** A quote holds an amount that no other can have: so many a day and client. */
const QUOTES_PER_DAY = 50;

/** @throws payments_off */
export function requireMoney({ money }: Pick<Services, 'money'>): Money {
  if (money !== null) return money;
  throw paymentsOff();
}

/** The refusal of a route that takes money, where none is taken: it lasts until the operator turns payments on. */
export function paymentsOff(): TallyError {
  return new TallyError('payments_off', 'This service takes no payments (TALLY_PAYMENTS is off).');
}

/** @throws rate_limited */
export function countQuote(
  { store, clients, clock }: Pick<Services, 'store' | 'clients' | 'clock'>,
  exchange: Pick<Exchange, 'c' | 'headers'>,
): Promise<void> {
  const quota = { name: 'quote', limit: QUOTES_PER_DAY, store };
  return consumeDaily(quota, clients.group(exchange.c), exchange, clock());
}

export const paymentSchema = z
  .object({
    order_id: z.string(),
    network: z.string().openapi({ description: 'CAIP-2.', example: 'eip155:8453' }),
    asset: z.string().openapi({ description: 'The USDC contract on that network.' }),
    pay_to: z.string(),
    amount: z
      .string()
      .openapi({ description: 'The exact amount in base units (millionths).', example: '29004711' }),
    amount_usdc: z.string().openapi({ example: '29.004711' }),
    expires_at: z.string().openapi({
      description: 'The transfer must be in a block by then; a later one is refunded.',
    }),
    confirmations: z.int().openapi({ description: 'The number of blocks after which the transfer counts.' }),
  })
  .openapi('PaymentInstructions');

/** How an open order is paid. */
export function paymentInstructions({ amount, expiresAt }: OrderRow, { token, treasury }: Money) {
  return {
    network: token.network,
    asset: token.usdc,
    pay_to: treasury,
    amount: String(amount),
    amount_usdc: formatUsdc(nanoOf(amount ?? 0n)),
    expires_at: formatTimestamp((expiresAt ?? 0) * 1000),
    confirmations: token.confirmations,
  };
}
