/** Control, format, private-use and lone surrogate characters, and the two Unicode line ends. */
const unprintable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Makes text from a document or a service safe to show on a terminal: one line, and nothing in it that moves the
 * cursor, changes colours or the reading direction, so that a receipt can't draw a verdict of its own.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** As `printable`, but keeps line feeds: for the command's own text around such text. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
