const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;

/**
 * The members of a JSON object, each as the text of its value, in their order. Spares parsing the values.
 * @param jcs of a receipt, whose names need no escapes
 */
export function memberTexts(jcs: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (let at = 1; at < jcs.length - 1; ) {
    const nameEnd = jcs.indexOf('"', at + 1);
    const end = endOfValue(jcs, nameEnd + 2);
    texts.set(jcs.slice(at + 1, nameEnd), jcs.slice(nameEnd + 2, end));
    at = end + 1;
  }
  return texts;
}

/** Where the comma behind a value stands, or the brace that ends the object. */
function endOfValue(jcs: string, start: number): number {
  let depth = 0;
  for (let at = start; at < jcs.length; at++) {
    const code = jcs.charCodeAt(at);
    if (code === QUOTE) at = endOfText(jcs, at);
    // `[` and `{`, then `]` and `}`.
    else if (code === 91 || code === 123) depth++;
    else if (code === 93 || code === 125) {
      if (depth === 0) return at;
      depth--;
    } else if (code === COMMA && depth === 0) return at;
  }
  throw new RangeError('The text is not a JSON object.');
}

/** Where the quotation mark stands that ends a text. */
function endOfText(jcs: string, start: number): number {
  let at = start + 1;
  while (jcs.charCodeAt(at) !== QUOTE) {
    if (at >= jcs.length) throw new RangeError('The text is not a JSON object.');
    at += jcs.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}
