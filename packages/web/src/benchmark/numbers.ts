import type { Estimate } from '../plot/lines.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { lookUp } from '../words.ts';

/** `97.6%` of a share. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

/** `50%` of a budget or of an axis. */
export const round = (share: number): string => `${Number((share * 100).toPrecision(6))}%`;

/** `+2.8` of a difference between shares: percentage points. */
export function points(difference: number): string {
  const text = Math.abs(difference * 100).toFixed(1);
  if (text === '0.0') return text;
  return difference > 0 ? `+${text}` : `−${text}`;
}

/** `+2.5` or `+5` beside an axis. */
export const pointsTick = (difference: number): string => points(difference).replace(/\.0$/, '');

/** `94.6 to 99.1` of an interval of shares. */
export const span = ([low, high]: readonly [number, number], write = bare): string =>
  `${write(low)} to ${write(high)}`;

/** `94.6–99.1`, for shares where there is little room. */
export const range = ([low, high]: readonly [number, number]): string => `${bare(low)}–${bare(high)}`;

const bare = (share: number): string => (share * 100).toFixed(1);

/** `812,345` */
export const count = (number: number): string => number.toLocaleString('en');

export const estimate = (value: number, [low, high]: readonly [number, number]): Estimate => ({
  value,
  low,
  high,
});

/** Returns the display name of a tier. */
export const tierName = (id: string): string => lookUp(prose.tiers, id) ?? id;

/** All values in the order in which they first come. */
export const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
