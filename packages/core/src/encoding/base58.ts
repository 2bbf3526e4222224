import { TallyError } from '../errors.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Longest text that is decoded: the work grows with its square, and a key of 64 bytes needs 90 characters. */
const maxCharacters = 128;

/** The digit value of every ASCII character code; -1 where it is not in the alphabet. */
const values = new Int8Array(128).fill(-1);
for (const [value, character] of Array.from(alphabet).entries()) values[character.charCodeAt(0)] = value;

/** Base58 in Bitcoin's alphabet; every leading zero byte is a leading `1`. For keys, not for long data. */
export function toBase58(bytes: Uint8Array): string {
  const zeros = leadingCount(bytes, 0);
  const digits: number[] = [];
  for (let index = zeros; index < bytes.length; index++) multiplyAdd(digits, 256, bytes[index] as number, 58);
  let text = '1'.repeat(zeros);
  for (let index = digits.length - 1; index >= 0; index--) text += alphabet[digits[index] as number];
  return text;
}

/** The bytes of base58 text in Bitcoin's alphabet. @throws invalid_multibase for other characters or more than 128 of them */
export function fromBase58(text: string): Uint8Array {
  if (text.length > maxCharacters) {
    throw new TallyError('invalid_multibase', `Base58 text is at most ${maxCharacters} characters here.`);
  }
  const digits = Array.from({ length: text.length }, (_, index) => digitAt(text, index));
  const zeros = leadingCount(digits, 0);
  const reversed: number[] = [];
  for (let index = zeros; index < digits.length; index++) {
    multiplyAdd(reversed, 58, digits[index] as number, 256);
  }
  const bytes = new Uint8Array(zeros + reversed.length);
  bytes.set(reversed.reverse(), zeros);
  return bytes;
}

function digitAt(text: string, index: number): number {
  const value = values[text.charCodeAt(index)] ?? -1;
  if (value < 0) throw new TallyError('invalid_multibase', `Not base58btc at character ${index}.`);
  return value;
}

/** In place: number = number * factor + addend, its digits in `base`, least significant first. */
function multiplyAdd(digits: number[], factor: number, addend: number, base: number): void {
  let carry = addend;
  for (let index = 0; index < digits.length; index++) {
    carry += (digits[index] as number) * factor;
    digits[index] = carry % base;
    carry = (carry / base) | 0;
  }
  for (; carry > 0; carry = (carry / base) | 0) digits.push(carry % base);
}

function leadingCount(values: ArrayLike<number>, leading: number): number {
  let count = 0;
  while (count < values.length && values[count] === leading) count++;
  return count;
}
