import { sha256Hex, utf8 } from '@tallystick/core';

const ID_LENGTH = 12;
const DIGEST_LENGTH = 16;
/** One token, or two where the text holds the first itself. */
const GAPS = ['…', '[…]'];

/** What stands where something was left out of a text that is named `id`: nothing that the text holds itself. */
export function gapOf(id: string, text: string): string {
  return GAPS.find((sign) => !text.includes(sign)) ?? `[…${id}]`;
}

/**
 * The name of a block by its original text: 12 digits from its SHA-256 that the text does not hold. Equal texts have
 * equal names, in every process.
 */
export function idOf(original: string): string {
  for (let hash = sha256Hex(utf8(original)); ; hash = sha256Hex(utf8(hash))) {
    // Digits are a third of the tokens that hexadecimal is.
    const id = String(BigInt(`0x${hash}`) % 10n ** BigInt(ID_LENGTH)).padStart(ID_LENGTH, '0');
    if (!original.includes(id)) return id;
  }
}

/** Tells two forms of a block apart; 16 hex characters. */
export function digestOf(text: string): string {
  return sha256Hex(utf8(text)).slice(0, DIGEST_LENGTH);
}
