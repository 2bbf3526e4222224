import type { Money } from './documents.ts';

/** Formats a count: `1,204`. */
export const count = (number: number): string => number.toLocaleString('en');

/** Formats a count on an axis: `12k` or `1.5M`. */
export const brief = (number: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(number);

/** Formats USDC without trailing zeros: `0.0000123`. */
export const usdc = ({ usdc: text }: Money): string => text.replace(/\.?0+$/, '') || '0';

const DAY_MS = 86_400_000;

/** Every UTC day from the first to the last, both included, such as `2026-11-21`. */
export function daysBetween(first: string, last: string): string[] {
  const from = Date.parse(first);
  const length = Math.max(Math.round((Date.parse(last) - from) / DAY_MS) + 1, 0);
  return Array.from({ length }, (_, index) => new Date(from + index * DAY_MS).toISOString().slice(0, 10));
}

/** Formats a day such as `2026-11-21` as `Nov 21`. */
export const shortDay = (day: string): string =>
  new Date(day).toLocaleDateString('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
