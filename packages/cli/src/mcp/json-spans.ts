/** Where a value stands in a text: from `start` up to, but without, `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of an object, as it stands in the text. */
export interface MemberSpan extends Span {
  readonly name: string;
}

/**
 * The members of an object, in their order, also those whose name comes twice.
 * @param text valid JSON, a character a byte (latin1), so that offsets count bytes
 * @param start of the object, or of white space before it
 * @returns null if the value is no object
 */
export function membersOf(text: string, start = 0): readonly MemberSpan[] | null {
  let at = afterSpace(text, start);
  if (text[at] !== '{') return null;
  const members: MemberSpan[] = [];
  at = afterSpace(text, at + 1);
  while (text[at] !== '}') {
    const nameEnd = endOfString(text, at);
    const name = nameOf(text.slice(at, nameEnd));
    const value = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const end = endOfValue(text, value);
    members.push({ name, start: value, end });
    at = afterSpace(text, end);
    if (text[at] === ',') at = afterSpace(text, at + 1);
  }
  return members;
}

/** Where the elements of an array stand in the text; null if the value is no array. The parameters are those of `membersOf`. */
export function elementsOf(text: string, start = 0): readonly Span[] | null {
  let at = afterSpace(text, start);
  if (text[at] !== '[') return null;
  const elements: Span[] = [];
  at = afterSpace(text, at + 1);
  while (text[at] !== ']') {
    const end = endOfValue(text, at);
    elements.push({ start: at, end });
    at = afterSpace(text, end);
    if (text[at] === ',') at = afterSpace(text, at + 1);
  }
  return elements;
}

/** @param quoted a string with its quotes, a character a byte */
function nameOf(quoted: string): string {
  if (!/[\\\x80-\xff]/.test(quoted)) return quoted.slice(1, -1);
  return JSON.parse(Buffer.from(quoted, 'latin1').toString()) as string;
}

function afterSpace(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return at;
}

function endOfString(text: string, start: number): number {
  let at = start;
  let backslashes: number;
  do {
    at = text.indexOf('"', at + 1);
    backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  } while (backslashes % 2 === 1);
  return at + 1;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === '{' || first === '[') return endOfContainer(text, start);
  SCALAR_END.lastIndex = start;
  return SCALAR_END.exec(text)?.index ?? text.length;
}

const SCALAR_END = /[\s,}\]]/g;
const STRUCTURE = /["{}[\]]/g;

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    STRUCTURE.lastIndex = at;
    at = STRUCTURE.exec(text)?.index ?? text.length;
    if (text[at] === '"') at = endOfString(text, at);
    else {
      depth += text[at] === '{' || text[at] === '[' ? 1 : -1;
      at += 1;
    }
  } while (depth > 0);
  return at;
}
