import type { NanoUsdc } from '@tallystick/ledger';

/** What an on-chain payment buys (specification 5.4); Enterprise is agreed on. */
export const SOLD_TIERS = ['pro', 'scale'] as const;
export type SoldTier = (typeof SOLD_TIERS)[number];

/** A year is paid with ten months (specification 5.4). */
export const ANNUAL_PREPAY_MONTHS = 10;
export type Months = 1 | 12;

/** For a month. */
export type TierPrices = Readonly<Record<SoldTier, NanoUsdc>>;

export function isSoldTier(text: string): text is SoldTier {
  return SOLD_TIERS.some((tier) => tier === text);
}

export function priceOf(prices: TierPrices, tier: SoldTier, months: Months): NanoUsdc {
  return prices[tier] * (months === 12 ? BigInt(ANNUAL_PREPAY_MONTHS) : 1n);
}

/** The longest time that an amount pays for, and what is left of it; null where it pays for none. */
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

/** So many calendar months later (UTC); where that month has no such day, its last one. Unix seconds. */
export function monthsAfter(seconds: number, months: number): number {
  const from = new Date(seconds * 1000);
  const to = new Date(from);
  to.setUTCDate(1);
  to.setUTCMonth(from.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), lastDay));
  return Math.floor(to.getTime() / 1000);
}
