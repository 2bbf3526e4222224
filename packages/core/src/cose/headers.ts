/** Returns whether a decoded item is a map of headers: its labels are integers and texts (RFC 9052, section 1.5). */
export function isHeaderMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
  if (!(value instanceof Map)) return false;
  return [...value.keys()].every((label) => typeof label === 'string' || Number.isSafeInteger(label));
}

/** Claims of a CWT in a header (RFC 9597): who issued, about what. */
export interface Claims {
  readonly issuer: string | null;
  readonly subject: string | null;
}

/** The claims that stand in a header parameter; null for those that are absent or no text. */
export function claimsOf(value: unknown): Claims {
  const claim = (label: number): string | null => {
    const found: unknown = value instanceof Map ? value.get(label) : undefined;
    return typeof found === 'string' ? found : null;
  };
  return { issuer: claim(1), subject: claim(2) };
}

/** The name of a key: as text if it is text, else in base64url; null if there is none. */
export function keyNameOf(kid: unknown, toBase64url: (bytes: Uint8Array) => string): string | null {
  if (typeof kid === 'string') return kid;
  if (!(kid instanceof Uint8Array)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(kid);
  } catch {
    return toBase64url(kid);
  }
}
