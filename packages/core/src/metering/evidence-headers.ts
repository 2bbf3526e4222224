import type { EvidenceCounts } from './evidence-classes.ts';

/** Response headers in which a service counts the evidence of a bill by class. */
const HEADERS = {
  verified: 'x-evidence-verified',
  logged: 'x-evidence-logged',
  hashed: 'x-evidence-hashed',
  trusted: 'x-evidence-trusted',
  issued_in_window: 'x-evidence-in-window',
} as const satisfies Record<keyof EvidenceCounts, string>;

const NAMES = Object.keys(HEADERS) as (keyof EvidenceCounts)[];

/** The headers for these counts, their names in lower case. */
export function evidenceHeaders(counts: EvidenceCounts): Record<string, string> {
  return Object.fromEntries(NAMES.map((name) => [HEADERS[name], String(counts[name])]));
}

/** The counts in the headers of an answer; null where one of them is missing or no whole number. */
export function evidenceCountsIn(headers: { get(name: string): string | null }): EvidenceCounts | null {
  const counts = Object.fromEntries(
    NAMES.map((name) => [name, Number(headers.get(HEADERS[name]) ?? Number.NaN)]),
  ) as EvidenceCounts;
  return Object.values(counts).every(Number.isSafeInteger) ? counts : null;
}
