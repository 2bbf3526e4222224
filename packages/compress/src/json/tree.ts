import { stringEnd } from './minify.ts';

/** JSON as it was written: every scalar keeps its lexeme, and every object keeps the order and repetition of its members. */
export type Tree = Scalar | List | Members;
export interface Scalar {
  readonly kind: 'scalar';
  readonly lexeme: string;
}
export interface List {
  readonly kind: 'list';
  readonly items: readonly Tree[];
}
export interface Members {
  readonly kind: 'members';
  /** Names of the members, decoded from their lexemes. */
  readonly names: readonly string[];
  readonly values: readonly Tree[];
}

/** Deepest JSON that is parsed into a tree; deeper JSON is only minified. */
const MAX_DEPTH = 64;

/** Parses a text into a tree; undefined if it is not JSON or nested too deeply. */
export function parseTree(text: string): Tree | undefined {
  return isJson(text) ? treeOf(text) : undefined;
}

/** Parses JSON, which is not checked, into a tree; undefined if it is nested too deeply. */
export function treeOf(json: string): Tree | undefined {
  return new Reader(json).read();
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function stringValue(lexeme: string): string {
  return lexeme.includes('\\') ? (JSON.parse(lexeme) as string) : lexeme.slice(1, -1);
}

/** Returns whether two trees are equal: members in the same order, numbers by lexeme, strings by character. */
export function sameTree(a: Tree, b: Tree): boolean {
  if (a.kind === 'scalar') return b.kind === 'scalar' && sameScalar(a.lexeme, b.lexeme);
  if (a.kind === 'list') return b.kind === 'list' && sameTrees(a.items, b.items);
  return (
    b.kind === 'members' &&
    a.names.length === b.names.length &&
    a.names.every((name, i) => name === b.names[i]) &&
    sameTrees(a.values, b.values)
  );
}

function sameTrees(a: readonly Tree[], b: readonly Tree[]): boolean {
  return (
    a.length === b.length &&
    a.every((tree, i) => {
      const other = b[i];
      return other !== undefined && sameTree(tree, other);
    })
  );
}

function sameScalar(a: string, b: string): boolean {
  if (a === b) return true;
  return a.startsWith('"') && b.startsWith('"') && stringValue(a) === stringValue(b);
}

/** Writes a tree as JSON without whitespace. */
export function compactJson(tree: Tree): string {
  if (tree.kind === 'scalar') return tree.lexeme;
  if (tree.kind === 'list') return `[${tree.items.map(compactJson).join(',')}]`;
  return `{${tree.names.map((name, i) => `${JSON.stringify(name)}:${compactJson(tree.values[i] ?? NULL)}`).join(',')}}`;
}

const NULL: Scalar = { kind: 'scalar', lexeme: 'null' };

/** Parses text that is known to be valid JSON, so it checks nothing. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Tree | undefined {
    this.#skip();
    return this.#value(0);
  }

  #value(depth: number): Tree | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const code = this.#text.charCodeAt(this.#at);
    if (code === 91) return this.#list(depth);
    if (code === 123) return this.#members(depth);
    return { kind: 'scalar', lexeme: this.#scalar() };
  }

  #list(depth: number): Tree | undefined {
    const items: Tree[] = [];
    this.#pass();
    while (this.#text.charCodeAt(this.#at) !== 93) {
      const item = this.#value(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      this.#comma();
    }
    this.#pass();
    return { kind: 'list', items };
  }

  #members(depth: number): Tree | undefined {
    const names: string[] = [];
    const values: Tree[] = [];
    this.#pass();
    while (this.#text.charCodeAt(this.#at) !== 125) {
      names.push(stringValue(this.#scalar()));
      this.#pass();
      const value = this.#value(depth + 1);
      if (value === undefined) return undefined;
      values.push(value);
      this.#comma();
    }
    this.#pass();
    return { kind: 'members', names, values };
  }

  #scalar(): string {
    const from = this.#at;
    if (this.#text.charCodeAt(from) === 34) this.#at = stringEnd(this.#text, from);
    else {
      let code = this.#text.charCodeAt(this.#at);
      while (code > 32 && code !== 44 && code !== 93 && code !== 125)
        code = this.#text.charCodeAt(++this.#at);
    }
    const lexeme = this.#text.slice(from, this.#at);
    this.#skip();
    return lexeme;
  }

  #comma(): void {
    if (this.#text.charCodeAt(this.#at) === 44) this.#pass();
  }

  /** Skips one structural character and the whitespace after it. */
  #pass(): void {
    this.#at++;
    this.#skip();
  }

  #skip(): void {
    while (this.#text.charCodeAt(this.#at) <= 32) this.#at++;
  }
}
