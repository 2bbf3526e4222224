import type { Estimate } from '../plot/lines.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { lookUp } from '../words.ts';

/** Formats a share: `97.6%`. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

/** Formats a budget or a value on an axis: `50%`. */
export const round = (share: number): string => `${Number((share * 100).toPrecision(6))}%`;

/** Formats a difference between shares in percentage points: `+2.8`. */
export function points(difference: number): string {
  const text = Math.abs(difference * 100).toFixed(1);
  if (text === '0.0') return text;
  return difference > 0 ? `+${text}` : `−${text}`;
}

/** Formats a difference on an axis: `+2.5` or `+5`. */
export const pointsTick = (difference: number): string => points(difference).replace(/\.0$/, '');

/** Formats an interval of shares: `94.6 to 99.1`. */
export const span = ([low, high]: readonly [number, number], write = bare): string =>
  `${write(low)} to ${write(high)}`;

/** Formats an interval of shares where there is little room: `94.6–99.1`. */
export const range = ([low, high]: readonly [number, number]): string => `${bare(low)}–${bare(high)}`;

const bare = (share: number): string => (share * 100).toFixed(1);

/** Formats a count: `812,345`. */
export const count = (number: number): string => number.toLocaleString('en');

export const estimate = (value: number, [low, high]: readonly [number, number]): Estimate => ({
  value,
  low,
  high,
});

/** Returns the display name of a tier. */
export const tierName = (id: string): string => lookUp(prose.tiers, id) ?? id;

/** The different values, in the order of their first occurrence. */
export const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
