import { orNull } from '../or-null.ts';
import { base64Writer, SHARED_DIGITS } from './base64-digits.ts';
import { fromBase64url } from './base64url.ts';

const digitsOf = base64Writer(`${SHARED_DIGITS}+/`);

/** Base64 with padding (RFC 4648, section 4), as signed notes write it. */
export function toBase64(bytes: Uint8Array): string {
  return digitsOf(bytes) + ['', '==', '='][bytes.length % 3];
}

/** The bytes of base64 text, or null unless it is exactly what `toBase64` writes for them. */
export function fromBase64(text: string): Uint8Array | null {
  const [, digits] = /^([A-Za-z0-9+/]*)={0,2}$/.exec(text) ?? [];
  // With at most two of them, only the right number of `=` makes whole groups of four.
  if (digits === undefined || text.length % 4 !== 0) return null;
  return orNull(() => fromBase64url(digits.replaceAll('+', '-').replaceAll('/', '_')));
}
