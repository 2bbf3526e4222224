import type { JsonObject } from '@tallystick/core';
import type { MemberTier, NanoUsdc } from '@tallystick/ledger';
import type { Price } from './catalogue/catalogue.ts';
import { type Bill, type TokenPrices, tariffFor } from './token-prices.ts';
import type { Usage } from './types.ts';

/** What `svc.billing` says of a call. */
export interface Billed {
  readonly bill: Bill;
  /** Of all calls to the provider together. */
  readonly usage: Usage;
  /** Of each call to the provider. */
  readonly rounds: readonly Usage[];
  readonly price: Price;
  /** The kind of account that pays. */
  readonly account: string;
  readonly reserved: NanoUsdc;
  readonly tier: MemberTier;
  readonly sharePercent: number;
}

/** An amount in decimal USDC with nine places, and as an integer of nano-USDC: both texts, since JSON has only doubles. */
export function money(nanoUsdc: NanoUsdc): { usdc: string; nano: string } {
  const nano = String(nanoUsdc);
  const [sign, amount] = nanoUsdc < 0n ? ['-', nano.slice(1)] : ['', nano];
  const digits = amount.padStart(10, '0');
  return { usdc: `${sign}${digits.slice(0, -9)}.${digits.slice(-9)}`, nano };
}

/** Documents of prices: those of the catalogue stand in the bills of many calls. */
const priceDocuments = new WeakMap<TokenPrices, ReturnType<typeof newPriceDocument>>();

/** Prices for 1,000,000 tokens. */
export function priceDocument(price: TokenPrices): ReturnType<typeof newPriceDocument> {
  const document = priceDocuments.get(price) ?? newPriceDocument(price);
  priceDocuments.set(price, document);
  return document;
}

function newPriceDocument(price: TokenPrices) {
  return {
    input: money(price.inputPerMTok),
    output: money(price.outputPerMTok),
    cache_read: money(price.cacheReadPerMTok),
    cache_write: money(price.cacheWritePerMTok),
    cache_write_long: money(price.cacheWriteLongPerMTok ?? price.cacheWritePerMTok),
  };
}

/** What a model's tokens cost, with the tariffs for calls of other kinds, and where that was read. */
export function modelPriceDocument({ tariffs = [], source = null, ...standard }: Price) {
  return {
    price_per_million_tokens: priceDocument(standard),
    tariffs: tariffs.map(({ aboveTokens = null, serviceTier = null, ...one }) => ({
      above_tokens: aboveTokens,
      service_tier: serviceTier,
      price_per_million_tokens: priceDocument(one),
    })),
    price_source: source && {
      page: source.page,
      read_on: source.readOn,
      copy: source.copy === true,
      valid_until: source.validUntil ?? null,
    },
  };
}

export function billingDocument(billed: Billed): JsonObject {
  const { bill, usage, rounds, price, account, reserved, tier, sharePercent } = billed;
  const tariffs = rounds.map((round) => tariffFor(price, round));
  const [tariff = price] = tariffs;
  return {
    asset: 'USDC',
    account,
    charge: money(bill.charge),
    provider_cost: money(bill.cost),
    saving: money(bill.saving),
    share: { ...money(bill.share + bill.discount), percent: sharePercent, tier },
    reserved: money(reserved),
    usage: { ...tokensDocument(usage), counted_by: usage.estimated ? 'tallystick' : 'provider' },
    price_per_million_tokens: priceDocument(tariff),
    // One tariff explains the amount, unless the calls for one answer had several.
    ...(tariffs.some((one) => one !== tariff) && {
      calls: rounds.map((round, index) => ({
        usage: tokensDocument(round),
        price_per_million_tokens: priceDocument(tariffs[index] ?? price),
      })),
    }),
  };
}

function tokensDocument(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
    cache_write_long_tokens: usage.longWriteTokens ?? 0,
    ...(usage.serviceTier !== undefined && { service_tier: usage.serviceTier }),
  };
}
