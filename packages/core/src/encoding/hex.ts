import { TallyError } from '../errors.ts';

const byteTexts: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/** Lower-case hex, two characters a byte. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index++) text += byteTexts[bytes[index] as number];
  return text;
}

/**
 * The bytes that `text` spells in lower-case hex.
 * @param length how many bytes it must spell; any number when absent
 * @throws invalid_hex for upper case, an odd length, other characters or another length
 */
export function fromHex(text: string, length: number = text.length >> 1): Uint8Array {
  if (text.length !== 2 * length) {
    throw new TallyError('invalid_hex', `Expected ${2 * length} hex characters, got ${text.length}.`);
  }
  const bytes = new Uint8Array(length);
  for (let index = 0; index < length; index++) {
    const byte = (nibble(text.charCodeAt(2 * index)) << 4) | nibble(text.charCodeAt(2 * index + 1));
    if (byte < 0) throw new TallyError('invalid_hex', `Not lower-case hex at character ${2 * index}.`);
    bytes[index] = byte;
  }
  return bytes;
}

/** The value of a lower-case hex digit's character code, or -1, which stays negative after a shift and an or. */
function nibble(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x61 && code <= 0x66) return code - 0x57;
  return -1;
}
