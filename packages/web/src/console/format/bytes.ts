const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** A number of bytes in three digits: `812 bytes`, `28.3 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const value = bytes / 1_000 ** power;
  const digits = power === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[power]}`;
}
