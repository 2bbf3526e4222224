/**
 * Characters that are invisible, or that change how others are read: controls, formats (bidi among them),
 * private use, unassigned, line ends, spaces other than the plain one, and characters that render as nothing.
 */
const deceptive = /[\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/u;

/** A run of text that may be shown as it is, or one character to be shown by its number. */
export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** Cuts a text from a document into pieces, with each deceptive character as its own `U+XXXX`. */
export function* reveal(text: string): Generator<Piece> {
  let plain = '';
  for (const character of text) {
    if (!deceptive.test(character)) {
      plain += character;
      continue;
    }
    if (plain !== '') yield { text: plain, marked: false };
    plain = '';
    yield { text: codePointName(character), marked: true };
  }
  if (plain !== '') yield { text: plain, marked: false };
}

function codePointName(character: string): string {
  const number = character.codePointAt(0) ?? 0;
  return `U+${number.toString(16).toUpperCase().padStart(4, '0')}`;
}
