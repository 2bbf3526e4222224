import { canonicalize, type JsonObject } from '@tallystick/core';

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;

/**
 * A JSON object's canonical text with members set. Spares parsing it.
 * @param jcs of a receipt, whose names need no escapes
 */
export function withMembers(jcs: string, members: JsonObject): string {
  let text = jcs;
  for (const [name, value] of Object.entries(members)) text = withMember(text, name, canonicalize(value));
  return text;
}

function withMember(jcs: string, name: string, value: string): string {
  const member = `"${name}":${value}`;
  let at = 1;
  while (at < jcs.length - 1) {
    const nameEnd = jcs.indexOf('"', at + 1);
    const found = jcs.slice(at + 1, nameEnd);
    if (found > name) return `${jcs.slice(0, at)}${member},${jcs.slice(at)}`;
    const end = endOfValue(jcs, nameEnd + 2);
    if (found === name) return jcs.slice(0, at) + member + jcs.slice(end);
    at = end + 1;
  }
  return `${jcs.slice(0, -1)}${jcs.length > 2 ? ',' : ''}${member}}`;
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
