import type { EvidenceCounts } from './evidence-classes.ts';

/** The response headers in which a service says what the evidence of a bill was found to be. */
const HEADERS = {
  verified: 'x-evidence-verified',
  logged: 'x-evidence-logged',
  hashed: 'x-evidence-hashed',
  trusted: 'x-evidence-trusted',
  issued_in_window: 'x-evidence-in-window',
} as const satisfies Record<keyof EvidenceCounts, string>;

const NAMES = Object.keys(HEADERS) as (keyof EvidenceCounts)[];

/** The headers that say these counts, in lower case. */
export function evidenceHeaders(counts: EvidenceCounts): Record<string, string> {
  return Object.fromEntries(NAMES.map((name) => [HEADERS[name], String(counts[name])]));
}

/** The counts that an answer's headers say; null where one of them is missing or no whole number. */
export function evidenceCountsIn(headers: Pick<Headers, 'get'>): EvidenceCounts | null {
  const counts = Object.fromEntries(
    NAMES.map((name) => [name, Number(headers.get(HEADERS[name]) ?? Number.NaN)]),
  ) as EvidenceCounts;
  return Object.values(counts).every(Number.isSafeInteger) ? counts : null;
}
