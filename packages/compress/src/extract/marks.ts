import { sha256Hex, utf8 } from '@tallystick/core';

const ID_LENGTH = 12;
const DIGEST_LENGTH = 16;
/** Marks of a gap: one token, or two if the text contains the first one itself. */
const GAPS = ['…', '[…]'];

/** The mark of a gap in the text named `id`; the text itself does not contain it. */
export function gapOf(id: string, text: string): string {
  return GAPS.find((sign) => !text.includes(sign)) ?? `[…${id}]`;
}

/**
 * The name of a block, from its original text: 12 digits of its SHA-256 that the text does not contain. Equal texts have
 * equal names, in every process.
 */
export function idOf(original: string): string {
  for (let hash = sha256Hex(utf8(original)); ; hash = sha256Hex(utf8(hash))) {
    // Digits take a third of the tokens that hexadecimal does.
    const id = String(BigInt(`0x${hash}`) % 10n ** BigInt(ID_LENGTH)).padStart(ID_LENGTH, '0');
    if (!original.includes(id)) return id;
  }
}

/** Digest that tells two forms of a block apart: 16 hex characters. */
export function digestOf(text: string): string {
  return sha256Hex(utf8(text)).slice(0, DIGEST_LENGTH);
}
