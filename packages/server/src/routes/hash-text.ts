import { fromBase64url, TallyError } from '@tallystick/core';

/**
 * The 32 bytes of a hash in canonical base64url (43 characters).
 * @param field the member that holds it, for errors
 * @throws invalid_base64url, with a hint for the usual slips
 */
export function readHash(text: string, field: string): Uint8Array {
  try {
    return fromBase64url(text, 32);
  } catch (cause) {
    throw new TallyError(
      'invalid_base64url',
      `${field} must be 32 bytes in base64url: 43 characters, without padding. ${hint(text)}`,
      { field, cause },
    );
  }
}

function hint(text: string): string {
  if (/^(?:sha256:)?[0-9a-f]{64}$/i.test(text))
    return 'This looks like hex: send the bytes in base64url instead.';
  if (/^[\w+/-]{43}=$/.test(text)) return 'Leave out the padding “=”.';
  if (/^[\w+/-]{43}$/.test(text) && /[+/]/.test(text))
    return 'This looks like base64: write - for + and _ for /.';
  if (/^[\w-]{43}$/.test(text)) return 'The unused bits of the last character must be zero.';
  return `The text sent has ${text.length} characters.`;
}
