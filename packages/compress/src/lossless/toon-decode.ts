import type { List, Members, Tree } from '../json/tree.ts';
import { fromToonScalar, leadingKey, splitCells } from './toon-scalar.ts';

/** Returns the tree that `encodeToon` was given, or undefined if the text is not such TOON. */
export function decodeToon(text: string): Tree | undefined {
  try {
    return new ToonReader(text).read();
  } catch (error) {
    if (error instanceof NotToon) return undefined;
    throw error;
  }
}

class NotToon extends Error {}

interface Line {
  depth: number;
  text: string;
}

const listHead = /^\[(\d+)\](?:\{(.*)\})?:(?: (.*))?$/s;

class ToonReader {
  readonly #lines: Line[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.split('\n').map((line) => {
      const content = line.trimStart();
      return { depth: (line.length - content.length) / 2, text: content };
    });
  }

  read(): Tree {
    const first = this.#lines[0]?.text ?? '';
    if (this.#lines.length === 1 && first === '') return { kind: 'members', names: [], values: [] };
    const tree = first.startsWith('[') ? this.#list(this.#take(0), 0) : this.#membersOrScalar(first);
    if (this.#at < this.#lines.length) throw new NotToon();
    return tree;
  }

  #membersOrScalar(first: string): Tree {
    const key = leadingKey(first);
    if (key !== undefined && /^(?:\[|:)/.test(first.slice(key.end))) return this.#members(0);
    return fromToonScalar(this.#take(0));
  }

  /** The text of the next line, which must stand at this depth. */
  #take(depth: number): string {
    const line = this.#lines[this.#at++];
    if (line?.depth !== depth) throw new NotToon();
    return line.text;
  }

  #members(depth: number): Members {
    const names: string[] = [];
    const values: Tree[] = [];
    while (this.#lines[this.#at]?.depth === depth) {
      const line = this.#take(depth);
      const key = leadingKey(line);
      if (key === undefined) throw new NotToon();
      names.push(key.name);
      values.push(this.#afterKey(line.slice(key.end), depth));
    }
    return { kind: 'members', names, values };
  }

  #afterKey(rest: string, depth: number): Tree {
    if (rest.startsWith('[')) return this.#list(rest, depth);
    if (rest.startsWith(': ')) return fromToonScalar(rest.slice(2));
    if (rest !== ':') throw new NotToon();
    return this.#members(depth + 1);
  }

  /** Parses a list. `head` is the text after the key: `[n]:`, `[n]: a,b` or `[n]{x,y}:`. */
  #list(head: string, depth: number): List {
    const [, count = '', fields, inline] = listHead.exec(head) ?? [];
    if (count === '') throw new NotToon();
    const length = Number(count);
    if (inline !== undefined) return counted(splitCells(inline).map(fromToonScalar), length);
    if (fields !== undefined) return this.#rows(fieldNames(fields), length, depth + 1);
    const items: Tree[] = [];
    while (items.length < length) items.push(this.#item(depth + 1));
    return { kind: 'list', items };
  }

  #rows(names: string[], length: number, depth: number): List {
    const items: Tree[] = [];
    while (items.length < length) {
      const values = splitCells(this.#take(depth)).map(fromToonScalar);
      if (values.length !== names.length) throw new NotToon();
      items.push({ kind: 'members', names, values });
    }
    return { kind: 'list', items };
  }

  #item(depth: number): Tree {
    const line = this.#take(depth);
    if (line === '-') return { kind: 'members', names: [], values: [] };
    if (!line.startsWith('- ')) throw new NotToon();
    const text = line.slice(2);
    const key = leadingKey(text);
    const member = key !== undefined && /^(?:\[|:)/.test(text.slice(key.end));
    if (text.startsWith('[')) return this.#list(text, depth + 1);
    if (!member) return fromToonScalar(text);
    this.#lines[--this.#at] = { depth: depth + 1, text };
    return this.#members(depth + 1);
  }
}

function fieldNames(fields: string): string[] {
  return splitCells(fields).map((field) => {
    const key = leadingKey(field);
    if (key === undefined || key.end !== field.length) throw new NotToon();
    return key.name;
  });
}

function counted(items: Tree[], length: number): List {
  if (items.length !== length) throw new NotToon();
  return { kind: 'list', items };
}
