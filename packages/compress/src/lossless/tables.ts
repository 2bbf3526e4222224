import type { List, Members, Tree } from '../json/tree.ts';
import type { Column } from './derived.ts';
import { memberPatternOf, type Pattern, patternOf } from './pattern.ts';

/** Brackets around what a pattern leaves open; the first pair is taken of which the document has none. */
const brackets = ['<>', '«»', '⟨⟩'];
/** Share of the length of its JSON that a table may have. */
const WORTH = 0.8;

/**
 * Writes JSON whose lists of objects are tables, and how to read it. Undefined if no list is worth a table.
 *
 * ```
 * JSON with tables: cells of a row fill the <> in order, strings unquoted.
 * {"total":2,"items":<table1>}
 * <table1>, 2 rows of {"kind":"Pod","metadata":{"name":<>,"node":<>}}
 * web	a1
 * db	a2
 * ```
 *
 * An object whose members are objects is a table of `members` in place of `rows`, with a string for their names before the pattern.
 */
export function encodeTables(tree: Tree, json: string): string | undefined {
  const pair = brackets.find((pair) => !json.includes(pair.charAt(0)) && !json.includes(pair.charAt(1)));
  if (pair === undefined) return undefined;
  const writer = new TableWriter(pair);
  const body = writer.value(tree);
  return writer.tables.length === 0 ? undefined : [writer.rule(), body, ...writer.tables].join('\n');
}

class TableWriter {
  readonly tables: string[] = [];
  readonly #open: string;
  readonly #close: string;
  #named = false;
  #empty = false;
  #objects = false;

  constructor(pair: string) {
    this.#open = pair.charAt(0);
    this.#close = pair.charAt(1);
  }

  rule(): string {
    const [blank, name] = ['', 'name'].map((text) => this.#place(text));
    return [
      `JSON with tables: cells of a row fill the ${blank} in order, strings unquoted.`,
      ...(this.#named ? [`The same ${name} is the same cell.`] : []),
      ...(this.#empty ? ['What has only empty cells is left out.'] : []),
      ...(this.#objects ? ['Members make up one object.'] : []),
    ].join(' ');
  }

  value(tree: Tree): string {
    if (tree.kind === 'scalar') return tree.lexeme;
    if (tree.kind === 'list')
      return this.#rows(tree) ?? `[${tree.items.map((item) => this.value(item)).join(',')}]`;
    const values = (): string[] => tree.values.map((value) => this.value(value));
    return this.#members(tree) ?? object(tree.names, values());
  }

  #place(text: string): string {
    return this.#open + text + this.#close;
  }

  #rows(list: List): string | undefined {
    const pattern = patternOf(list.items);
    if (pattern === undefined) return undefined;
    const columns = places(pattern);
    return this.#table(list, 'rows', columns, (names) => this.#pattern(pattern, names));
  }

  #members(members: Members): string | undefined {
    const pattern = memberPatternOf(members);
    if (pattern === undefined) return undefined;
    const { name, value } = pattern;
    const columns = [...places(name), ...places(value)];
    const text = (names: ReadonlyMap<Column, string>): string =>
      `${this.#pattern(name, names)}:${this.#pattern(value, names)}`;
    const table = this.#table(members, 'members', columns, text);
    this.#objects ||= table !== undefined;
    return table;
  }

  /** Adds the table of a list or an object, if it is worth one. @returns the place of the table */
  #table(
    tree: List | Members,
    what: 'rows' | 'members',
    columns: readonly Column[],
    pattern: (names: ReadonlyMap<Column, string>) => string,
  ): string | undefined {
    const names = namesOf(columns);
    const own = [...new Set(columns)];
    const { length } = tree.kind === 'list' ? tree.items : tree.values;
    const rows = Array.from({ length }, (_, row) => own.map(({ cells }) => cells[row]).join('\t'));
    const text = [pattern(names), ...rows].join('\n');
    if (text.length > lengthOf(tree) * WORTH) return undefined;
    this.#named ||= names.size > 0;
    this.#empty ||= own.some(({ cells }) => cells.includes(''));
    const name = this.#place(`table${this.tables.length + 1}`);
    this.tables.push(`${name}, ${length} ${what} of ${text}`);
    return name;
  }

  #pattern(pattern: Pattern, names: ReadonlyMap<Column, string>): string {
    const place = (column: Column): string => this.#place(names.get(column) ?? '');
    if (pattern.kind === 'constant') return pattern.json;
    if (pattern.kind === 'cell') return place(pattern.column);
    if (pattern.kind === 'text')
      return `"${pattern.parts.map((part) => (typeof part === 'string' ? part : place(part))).join('')}"`;
    const values = pattern.values.map((value) => this.#pattern(value, names));
    return pattern.names === undefined ? `[${values.join(',')}]` : object(pattern.names, values);
  }
}

/** Length of a tree as JSON without whitespace, but for escapes in names. */
function lengthOf(tree: Tree): number {
  if (tree.kind === 'scalar') return tree.lexeme.length;
  const values = tree.kind === 'list' ? tree.items : tree.values;
  const names = tree.kind === 'list' ? 0 : tree.names.reduce((sum, name) => sum + name.length + 3, 0);
  return values.reduce((sum, value) => sum + lengthOf(value), names + values.length + 1);
}

function object(names: readonly string[], values: readonly string[]): string {
  return `{${names.map((name, i) => `${JSON.stringify(name)}:${values[i]}`).join(',')}}`;
}

/** The columns of a pattern in the order in which its text has them, once for each place. */
function places(pattern: Pattern): Column[] {
  if (pattern.kind === 'cell') return [pattern.column];
  if (pattern.kind === 'group') return pattern.values.flatMap(places);
  return pattern.kind === 'text' ? pattern.parts.filter((part) => typeof part !== 'string') : [];
}

/** Names for the columns that have several places. */
function namesOf(columns: readonly Column[]): Map<Column, string> {
  const names = new Map<Column, string>();
  const taken = new Set<string>();
  for (const [i, column] of columns.entries()) {
    if (names.has(column) || columns.indexOf(column) === i) continue;
    const plain = column.name.replaceAll(/[^\w.-]/g, '');
    let name = plain;
    for (let n = 2; name === '' || taken.has(name); n++) name = `${plain}${n}`;
    names.set(column, name);
    taken.add(name);
  }
  return names;
}
