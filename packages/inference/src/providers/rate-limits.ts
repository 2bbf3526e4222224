/** The pairs of headers by which providers say what is left, and when it is full again. */
const HEADERS: readonly (readonly [remaining: string, reset: string])[] = [
  ...['requests', 'tokens'].map((of) => [`x-ratelimit-remaining-${of}`, `x-ratelimit-reset-${of}`] as const),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
    (of) => [`anthropic-ratelimit-${of}-remaining`, `anthropic-ratelimit-${of}-reset`] as const,
  ),
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
];

/** Milliseconds for which a provider's word is believed at most. */
const MAX_MS = 3_600_000;

/**
 * Milliseconds until the provider admits calls again, if its headers say that nothing is left; else 0.
 * @param now milliseconds since 1970
 */
export function exhaustedMs(header: (name: string) => string | undefined, now: number): number {
  const waits = HEADERS.map(([remaining, reset]) =>
    header(remaining)?.trim() === '0' ? resetMs(header(reset)?.trim() ?? '', now) : 0,
  );
  return Math.min(MAX_MS, Math.max(0, ...waits));
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Milliseconds until a reset: a duration (`6m0s`, `7.66s`, `120ms`), seconds, seconds or milliseconds since 1970, or a
 * date (RFC 3339). 0 if it is none of them.
 */
function resetMs(text: string, now: number): number {
  if (/^\d{1,15}(\.\d{1,9})?$/.test(text)) {
    const number = Number(text);
    if (number > 1e11) return number - now;
    return number > 1e9 ? number * 1_000 - now : number * 1_000;
  }
  if (/^(\d{1,9}(\.\d{1,9})?(ms|s|m|h)){1,4}$/.test(text))
    return [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
      (sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? 0),
      0,
    );
  const at = Date.parse(text);
  return Number.isNaN(at) ? 0 : at - now;
}
