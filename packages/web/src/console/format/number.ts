const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** A count with its thousands separated: `12,345`. */
export const count = (value: number): string => whole.format(value);

/** A count with what is counted: `1 call`, `12,345 calls`. */
export const counted = (value: number, one: string, more = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : more}`;

/** A count in three digits: `12.3K`. */
export const shortCount = (value: number): string => (value < 10_000 ? count(value) : compact.format(value));

/** A length of time: `312 ms`, `1.24 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9_995) return `${(milliseconds / 1_000).toFixed(2)} s`;
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A share of one as per cent, with three digits at most: `0.4 %`. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}
