import type { JsonValue } from '@tallystick/core';

/** Names of members and indices of elements, from the outermost value on. */
export type JsonPath = readonly (string | number)[];

/** A change of one value in a JSON text. */
export interface Edit {
  readonly path: JsonPath;
  /** Undefined removes the member. */
  readonly value: JsonValue | undefined;
  /** Whether a member that is not there is added, as the last one of its object. */
  readonly add?: boolean;
}

/** The edits of a value: one of its whole, or those of its members and elements. */
interface EditNode {
  edit: Edit | null;
  readonly children: Map<string, EditNode>;
}

/**
 * The JSON text with values replaced, removed and added; every other byte is kept. A path that leads nowhere changes
 * nothing. Of members with the same name, each is changed.
 * @param text well-formed JSON text of an object
 */
export function splice(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const root: EditNode = { edit: null, children: new Map() };
  for (const edit of edits) {
    let node = root;
    for (const step of edit.path) {
      const child = node.children.get(String(step)) ?? { edit: null, children: new Map() };
      node.children.set(String(step), child);
      node = child;
    }
    node.edit = edit;
  }
  const start = skipSpace(text, 0);
  const end = endOfValue(text, start);
  return text.slice(0, start) + spliceValue(text, start, end, root) + text.slice(end);
}

function spliceValue(text: string, start: number, end: number, node: EditNode): string {
  if (node.edit !== null) return JSON.stringify(node.edit.value);
  if (text[start] === '{') return spliceObject(text, start, end, node);
  return text[start] === '[' ? spliceArray(text, start, end, node) : text.slice(start, end);
}

function spliceObject(text: string, start: number, end: number, { children }: EditNode): string {
  const members: string[] = [];
  const missing = new Map(children);
  for (let at = start; at < end - 1; ) {
    const nameStart = skipSpace(text, at + 1);
    if (text[nameStart] !== '"') {
      members.push(text.slice(at + 1, end - 1));
      break;
    }
    const nameEnd = endOfString(text, nameStart);
    const name = JSON.parse(text.slice(nameStart, nameEnd)) as string;
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    const next = skipSpace(text, valueEnd);
    const child = children.get(name);
    missing.delete(name);
    if (child === undefined) members.push(text.slice(at + 1, next));
    else if (child.edit === null || child.edit.value !== undefined)
      members.push(
        text.slice(at + 1, valueStart) +
          spliceValue(text, valueStart, valueEnd, child) +
          text.slice(valueEnd, next),
      );
    at = next;
  }
  for (const [name, { edit }] of missing) {
    if (edit?.add !== true) continue;
    const member = `${JSON.stringify(name)}:${JSON.stringify(edit.value)}`;
    if (members.every((one) => one.trim() === '')) members.length = 0;
    members.push(member);
  }
  return `{${members.join(',')}}`;
}

function spliceArray(text: string, start: number, end: number, { children }: EditNode): string {
  const elements: string[] = [];
  for (let at = start; at < end - 1; ) {
    const valueStart = skipSpace(text, at + 1);
    if (text[valueStart] === ']') return text.slice(start, end);
    const valueEnd = endOfValue(text, valueStart);
    const next = skipSpace(text, valueEnd);
    const child = children.get(String(elements.length));
    elements.push(
      child === undefined
        ? text.slice(at + 1, next)
        : text.slice(at + 1, valueStart) +
            spliceValue(text, valueStart, valueEnd, child) +
            text.slice(valueEnd, next),
    );
    at = next;
  }
  return `[${elements.join(',')}]`;
}

const SPACE = /[\t\n\r ]*/y;
const SCALAR = /[^,\]}\t\n\r ]*/y;
/** Quotes and brackets: enough to find the end of an object or an array. */
const BRACKET = /["{}[\]]/g;

function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.test(text);
  return SPACE.lastIndex;
}

/** The index after the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  if (text[from] === '"') return endOfString(text, from);
  if (text[from] !== '{' && text[from] !== '[') {
    SCALAR.lastIndex = from;
    SCALAR.test(text);
    return SCALAR.lastIndex;
  }
  let depth = 0;
  let at = from;
  do {
    BRACKET.lastIndex = at;
    const [bracket] = BRACKET.exec(text) ?? [];
    at = BRACKET.lastIndex;
    if (bracket === '"') at = endOfString(text, at - 1);
    else depth += bracket === '{' || bracket === '[' ? 1 : -1;
  } while (depth > 0);
  return at;
}

/**
 * The index after the JSON string that begins at `from`. Searched by a loop, since a regular expression overflows the
 * stack on a long one.
 */
function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
