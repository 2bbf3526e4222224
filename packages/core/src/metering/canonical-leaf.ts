import { utf8 } from '../encoding/bytes.ts';

const RECEIPT_LENGTH = 32;
const HEAD = utf8('{"receipt_sha256":"');
const MIDDLE = utf8('","unit":');
const CLOSING_BRACE = 0x7d;
const UNIT_AT = HEAD.length + 2 * RECEIPT_LENGTH + MIDDLE.length;
/** Most digits of a unit that are read: more than any unit has, and few enough to be exact. */
const MAX_DIGITS = 15;

/**
 * Reads a leaf whose bytes are its JCS, without parsing it. Puts the receipt's 32 bytes into `receipt`.
 * @returns the unit, at least 1; 0 when the bytes are anything else, even another valid form of a leaf
 */
export function readCanonicalLeaf(line: Uint8Array, receipt: Uint8Array): number {
  const end = line.length - 1;
  const digits = end - UNIT_AT;
  if (digits < 1 || digits > MAX_DIGITS || line[end] !== CLOSING_BRACE) return 0;
  if (!holdsAt(line, 0, HEAD) || !holdsAt(line, UNIT_AT - MIDDLE.length, MIDDLE)) return 0;
  for (let index = 0; index < RECEIPT_LENGTH; index++) {
    const at = HEAD.length + 2 * index;
    const byte = (hexDigit(line[at] as number) << 4) | hexDigit(line[at + 1] as number);
    if (byte < 0) return 0;
    receipt[index] = byte;
  }
  return readUnit(line, end);
}

/** The decimal integer from `UNIT_AT` to `end`; 0 for a leading zero or anything but digits. */
function readUnit(line: Uint8Array, end: number): number {
  let unit = 0;
  for (let index = UNIT_AT; index < end; index++) {
    const digit = (line[index] as number) - 0x30;
    if (digit < 0 || digit > 9) return 0;
    unit = unit * 10 + digit;
    if (unit === 0) return 0;
  }
  return unit;
}

function holdsAt(line: Uint8Array, offset: number, expected: Uint8Array): boolean {
  for (let index = 0; index < expected.length; index++) {
    if (line[offset + index] !== expected[index]) return false;
  }
  return true;
}

/** The value of a lower-case hex digit, or -1, which stays negative after a shift and an or. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x61 && code <= 0x66) return code - 0x57;
  return -1;
}
