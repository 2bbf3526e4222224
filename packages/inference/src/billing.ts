import type { JsonObject } from '@tallystick/core';
import type { MemberTier, NanoUsdc } from '@tallystick/ledger';
import { formatUsdc } from '@tallystick/ledger';
import type { Price } from './catalogue/catalogue.ts';
import type { Bill } from './token-prices.ts';
import type { Usage } from './types.ts';

/** What `svc.billing` says of a call. */
export interface Billed {
  readonly bill: Bill;
  readonly usage: Usage;
  readonly price: Price;
  /** The kind of account that pays. */
  readonly account: string;
  readonly reserved: NanoUsdc;
  readonly tier: MemberTier;
  readonly sharePercent: number;
}

/** An amount in decimal USDC with nine places, and as an integer of nano-USDC: both texts, since JSON has only doubles. */
export function money(nanoUsdc: NanoUsdc): { usdc: string; nano: string } {
  const text = formatUsdc(nanoUsdc);
  const [whole = '0', fraction = ''] = text.split('.');
  return { usdc: `${whole}.${fraction.padEnd(9, '0')}`, nano: String(nanoUsdc) };
}

/** Prices for 1,000,000 tokens. */
export function priceDocument(price: Price) {
  return {
    input: money(price.inputPerMTok),
    output: money(price.outputPerMTok),
    cache_read: money(price.cacheReadPerMTok),
    cache_write: money(price.cacheWritePerMTok),
  };
}

export function billingDocument(billed: Billed): JsonObject {
  const { bill, usage, price, account, reserved, tier, sharePercent } = billed;
  return {
    asset: 'USDC',
    account,
    charge: money(bill.charge),
    provider_cost: money(bill.cost),
    saving: money(bill.saving),
    share: { ...money(bill.share + bill.discount), percent: sharePercent, tier },
    reserved: money(reserved),
    usage: {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
      counted_by: usage.estimated ? 'tallystick' : 'provider',
    },
    price_per_million_tokens: priceDocument(price),
  };
}
