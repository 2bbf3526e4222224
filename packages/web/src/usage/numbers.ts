import type { Money } from './documents.ts';

/** `1,204` */
export const count = (number: number): string => number.toLocaleString('en');

/** `12k` or `1.5M` beside an axis. */
export const brief = (number: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(number);

/** `0.0000123` of `0.000012300`. */
export const usdc = ({ usdc: text }: Money): string => text.replace(/\.?0+$/, '') || '0';

const DAY_MS = 86_400_000;

/** Every UTC day from the first to the last, both included, as `2026-11-21`. */
export function daysBetween(first: string, last: string): string[] {
  const from = Date.parse(first);
  const length = Math.max(Math.round((Date.parse(last) - from) / DAY_MS) + 1, 0);
  return Array.from({ length }, (_, index) => new Date(from + index * DAY_MS).toISOString().slice(0, 10));
}

/** `Nov 21` of `2026-11-21`. */
export const shortDay = (day: string): string =>
  new Date(day).toLocaleDateString('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
