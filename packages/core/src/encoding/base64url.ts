import { TallyError } from '../errors.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The two characters of every 12-bit group. */
const pairs: readonly string[] = Array.from(alphabet, (high) =>
  Array.from(alphabet, (low) => high + low),
).flat();

/** The 6-bit value of every ASCII character code; -1 where it is not in the alphabet. */
const values = new Int8Array(128).fill(-1);
for (const [value, character] of Array.from(alphabet).entries()) values[character.charCodeAt(0)] = value;

/** Base64url without padding (RFC 4648, section 5). */
export function toBase64url(bytes: Uint8Array): string {
  const whole = bytes.length - (bytes.length % 3);
  let text = '';
  for (let index = 0; index < whole; index += 3) {
    const group = (at(bytes, index) << 16) | (at(bytes, index + 1) << 8) | at(bytes, index + 2);
    text += pairs[group >> 12];
    text += pairs[group & 0xfff];
  }
  if (bytes.length - whole === 1) text += pairs[at(bytes, whole) << 4];
  if (bytes.length - whole === 2) {
    const group = (at(bytes, whole) << 10) | (at(bytes, whole + 1) << 2);
    text += pairs[group >> 6];
    text += alphabet[group & 0x3f];
  }
  return text;
}

/**
 * The bytes of unpadded base64url text, which must be exactly what `toBase64url` writes for them.
 * @param length how many bytes it must spell; any number when absent
 * @throws invalid_base64url for padding, other characters, non-zero spare bits or another length
 */
export function fromBase64url(text: string, length: number = (text.length * 3) >> 2): Uint8Array {
  if (text.length !== Math.ceil((length * 4) / 3)) {
    throw new TallyError(
      'invalid_base64url',
      `The text of ${text.length} characters is not ${length} bytes.`,
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
    throw new TallyError('invalid_base64url', 'The last character has bits that belong to no byte.');
  }
  return bytes;
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}
