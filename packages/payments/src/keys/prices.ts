import type { NanoUsdc } from '@tallystick/ledger';

/** The tiers that an on-chain payment can buy (specification 5.4). Enterprise is sold by contract. */
export const SOLD_TIERS = ['pro', 'scale'] as const;
export type SoldTier = (typeof SOLD_TIERS)[number];

/** A year costs ten months (specification 5.4). */
export const ANNUAL_PREPAY_MONTHS = 10;
export type Months = 1 | 12;

/** Prices for a month. */
export type TierPrices = Readonly<Record<SoldTier, NanoUsdc>>;

export function isSoldTier(text: string): text is SoldTier {
  return SOLD_TIERS.some((tier) => tier === text);
}

export function priceOf(prices: TierPrices, tier: SoldTier, months: Months): NanoUsdc {
  return prices[tier] * (months === 12 ? BigInt(ANNUAL_PREPAY_MONTHS) : 1n);
}

/** The longest time that an amount pays for, and what is left of the amount; null where it does not pay for a month. */
export function boughtWith(
  prices: TierPrices,
  tier: SoldTier,
  amount: NanoUsdc,
): { readonly months: Months; readonly excess: NanoUsdc } | null {
  for (const months of [12, 1] as const) {
    const excess = amount - priceOf(prices, tier, months);
    if (excess >= 0n) return { months, excess };
  }
  return null;
}

/** The time so many calendar months (UTC) later, in unix seconds; the month's last day where it has no such day. */
export function monthsAfter(seconds: number, months: number): number {
  const from = new Date(seconds * 1000);
  const to = new Date(from);
  to.setUTCDate(1);
  to.setUTCMonth(from.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), lastDay));
  return Math.floor(to.getTime() / 1000);
}
