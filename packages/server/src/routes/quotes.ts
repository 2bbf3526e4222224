import { z } from '@hono/zod-openapi';
import { consumeDaily } from '@tallystick/callers';
import type { Money } from '@tallystick/chain/evm';
import { formatTimestamp, TallyError } from '@tallystick/core';
import type { Received } from '@tallystick/kit';
import { formatUsdc } from '@tallystick/ledger';
import { type OrderRow, toNanoUsdc } from '@tallystick/payments';
import type { Services } from '../services.ts';
import { dollars, evmAddress, timestamp } from './shapes.ts';

/** Quotes per UTC day of each address group, since a quote reserves an amount. */
const QUOTES_PER_DAY = 50;

/** @throws payments_off */
export function requireMoney({ money }: Pick<Services, 'money'>): Money {
  if (money !== null) return money;
  throw paymentsOff();
}

/** The refusal of a paid route while payments are off; the operator has to turn them on. */
export function paymentsOff(): TallyError {
  return new TallyError('payments_off', 'This service takes no payments (TALLY_PAYMENTS is off).');
}

/** @throws rate_limited */
export function countQuote(
  { store, clients, clock }: Pick<Services, 'store' | 'clients' | 'clock'>,
  exchange: Received,
): Promise<void> {
  const quota = { name: 'quote', limit: QUOTES_PER_DAY, store };
  return consumeDaily(quota, clients.group(exchange.incoming), exchange, clock());
}

export const paymentSchema = z
  .object({
    order_id: z.string().openapi({ description: 'The id of the order, which its state is asked by.' }),
    network: z.string().openapi({ description: 'CAIP-2.', example: 'eip155:8453' }),
    asset: evmAddress.openapi({ description: 'The USDC contract on that network.' }),
    pay_to: evmAddress.openapi({ description: 'The treasury.' }),
    amount: z.string().openapi({
      description: 'The exact amount in base units (millionths).',
      pattern: '^[1-9][0-9]*$',
      example: '29004711',
    }),
    amount_usdc: dollars.openapi({ description: 'The same in USDC.', example: '29.004711' }),
    expires_at: timestamp.openapi({
      description: 'The transfer must be in a block by then; a later one is refunded.',
    }),
    confirmations: z.int().openapi({ description: 'The number of blocks after which the transfer counts.' }),
  })
  .openapi('PaymentInstructions', { description: 'How an order is paid.' });

/** How an open order is paid. */
export function paymentInstructions({ amount, expiresAt }: OrderRow, { token, treasury }: Money) {
  return {
    network: token.network,
    asset: token.usdc,
    pay_to: treasury,
    amount: String(amount),
    amount_usdc: formatUsdc(toNanoUsdc(amount ?? 0n)),
    expires_at: formatTimestamp((expiresAt ?? 0) * 1000),
    confirmations: token.confirmations,
  };
}
