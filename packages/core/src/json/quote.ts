/** Matches a character that must be escaped: one below U+0020, the quotation mark or the backslash. */
const mustEscape = /[^ !#-[\]-\uffff]/;
const escapedCharacters = new RegExp(mustEscape, 'g');

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
};

/** A well-formed string as JSON text with the only escapes that RFC 8785, section 3.2.2.2 allows. */
export function quoteJson(text: string): string {
  return mustEscape.test(text) ? `"${text.replace(escapedCharacters, escape)}"` : `"${text}"`;
}

function escape(character: string): string {
  return shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
