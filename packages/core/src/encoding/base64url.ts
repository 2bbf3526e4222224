import { TallyError } from '../errors.ts';
import { base64Writer, SHARED_DIGITS } from './base64-digits.ts';

const alphabet = `${SHARED_DIGITS}-_`;

/** The 6-bit value of every ASCII character code; -1 where it is not in the alphabet. */
const values = new Int8Array(128).fill(-1);
for (const [value, character] of Array.from(alphabet).entries()) values[character.charCodeAt(0)] = value;

/** Base64url without padding (RFC 4648, section 5). */
export const toBase64url: (bytes: Uint8Array) => string = base64Writer(alphabet);

/**
 * The bytes of unpadded base64url text, which must be exactly what `toBase64url` writes for them.
 * @param length how many bytes it must spell; any number when absent
 * @throws invalid_base64url for padding, other characters, non-zero spare bits or another length
 */
export function fromBase64url(text: string, length: number = (text.length * 3) >> 2): Uint8Array {
  if (text.length !== Math.ceil((length * 4) / 3)) {
    throw new TallyError(
      'invalid_base64url',
      `${text.length} characters of base64url do not encode ${length} bytes.`,
    );
  }
  const bytes = new Uint8Array(length);
  let written = 0;
  let pending = 0;
  let pendingBits = 0;
  for (let index = 0; index < text.length; index++) {
    const value = values[text.charCodeAt(index)] ?? -1;
    if (value < 0) throw new TallyError('invalid_base64url', `Not base64url at character ${index}.`);
    pending = ((pending << 6) | value) & 0xfff;
    pendingBits += 6;
    if (pendingBits >= 8) {
      pendingBits -= 8;
      bytes[written++] = pending >> pendingBits;
    }
  }
  if ((pending & ((1 << pendingBits) - 1)) !== 0) {
    throw new TallyError('invalid_base64url', 'The unused bits of the last character must be zero.');
  }
  return bytes;
}
