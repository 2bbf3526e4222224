import { fromCell } from '../json/cell.ts';
import { stringEnd } from '../json/minify.ts';
import { parseTree, stringValue, type Tree } from '../json/tree.ts';

const head = /^JSON with tables: cells of a row fill the (.)(.) in order, /;
/** Matches the line above the rows of a table: its name, the number of rows, what they are, and the pattern. */
export const tableHead = /^.(table\d+)., (\d+) (rows|members) of ([^\n]*)/;

export const hasTables = (text: string): boolean => head.test(text);

/** Returns the tree that `encodeTables` was given, or undefined if the text is not such JSON. */
export function decodeTables(text: string): Tree | undefined {
  const [rule = '', body = '', ...lines] = text.split('\n');
  const [, open = '', close = ''] = head.exec(rule) ?? [];
  if (open === '') return undefined;
  const tables = new Map<string, Tree>();
  for (let at = 0; at < lines.length; ) {
    const [, name = '', count = '', what, pattern = ''] = tableHead.exec(lines[at++] ?? '') ?? [];
    const rows = lines.slice(at, at + Number(count));
    at += rows.length;
    const isRows = what === 'rows';
    const items = itemsOf(templateOf(isRows ? pattern : asPair(pattern), open, close), rows);
    const table = items && (isRows ? ({ kind: 'list', items } as const) : objectOf(items));
    if (table === undefined || rows.length !== Number(count)) return undefined;
    tables.set(name, table);
  }
  const { form, names } = templateOf(body, open, close);
  const filling = { value: (place: number) => tables.get(names[place] ?? ''), text: () => '' };
  return form === undefined ? undefined : fill(form, filling);
}

/** The pattern of a member, a string or a place and what follows the colon, as that of a list of the two. */
function asPair(pattern: string): string {
  const end = pattern.startsWith('"') ? stringEnd(pattern, 0) : pattern.indexOf(':');
  return `[${pattern.slice(0, end)},${pattern.slice(end + 1)}]`;
}

/** The object with these pairs of a name and a value for its members; undefined if one is no such pair. */
function objectOf(pairs: readonly Tree[]): Tree | undefined {
  const names: string[] = [];
  const values: Tree[] = [];
  for (const pair of pairs) {
    const [name, value] = pair.kind === 'list' ? pair.items : [];
    if (name?.kind !== 'scalar' || value === undefined) return undefined;
    names.push(stringValue(name.lexeme));
    values.push(value);
  }
  return { kind: 'members', names, values };
}

/** The items of a table; undefined if a row has not the cells that the pattern asks for. */
function itemsOf({ form, names }: Template, rows: readonly string[]): Tree[] | undefined {
  const items: Tree[] = [];
  for (const row of rows) {
    const cells = row.split('\t');
    const text = (place: number): string => cells[place] ?? '';
    const value = (place: number): Tree | undefined =>
      text(place) === '' ? undefined : fromCell(text(place));
    const item = form === undefined ? undefined : fill(form, { value, text });
    if (item === undefined || cells.length !== names.length) return undefined;
    items.push(item);
  }
  return items;
}

/** JSON with places in brackets. */
interface Template {
  readonly form: Form | undefined;
  /** Names of the places in the order in which they first stand; a place without a name is one of its own. */
  readonly names: readonly string[];
}

type Form =
  | { readonly kind: 'constant'; readonly tree: Tree }
  | { readonly kind: 'value'; readonly place: number }
  /** A string whose odd parts are places. */
  | { readonly kind: 'text'; readonly parts: readonly (string | number)[] }
  | {
      readonly kind: 'group';
      readonly names: readonly string[] | undefined;
      readonly values: readonly Form[];
    };

function templateOf(text: string, open: string, close: string): Template {
  const names: string[] = [];
  const indexOf = (name: string): number => {
    const known = name === '' ? -1 : names.indexOf(name);
    return known < 0 ? names.push(name) - 1 : known;
  };
  const place = new RegExp(`${open}([^${open}${close}]*)${close}`, 'g');
  const numbered: string[] = [];
  for (let at = 0; at < text.length; ) {
    const inString = text.startsWith('"', at);
    const next = text.indexOf('"', at);
    const end = inString ? stringEnd(text, at) : next < 0 ? text.length : next;
    // A place for a value becomes a string with doubled brackets, so that the whole is JSON.
    const [before, after] = inString ? [open, close] : [`"${open}${open}`, `${close}${close}"`];
    numbered.push(text.slice(at, end).replaceAll(place, (_, name: string) => before + indexOf(name) + after));
    at = end;
  }
  const tree = parseTree(numbered.join(''));
  return { form: tree && formOf(tree, open, close), names };
}

function formOf(tree: Tree, open: string, close: string): Form {
  if (tree.kind === 'scalar') {
    const { lexeme } = tree;
    if (lexeme.startsWith(`"${open}${open}`)) return { kind: 'value', place: Number(lexeme.slice(3, -3)) };
    const parts = lexeme
      .split(new RegExp(`[${open}${close}]`))
      .map((part, i) => (i % 2 === 0 ? part : Number(part)));
    return parts.length === 1 ? { kind: 'constant', tree } : { kind: 'text', parts };
  }
  const values = (tree.kind === 'list' ? tree.items : tree.values).map((value) => formOf(value, open, close));
  if (values.every(({ kind }) => kind === 'constant')) return { kind: 'constant', tree };
  return { kind: 'group', names: tree.kind === 'list' ? undefined : tree.names, values };
}

/** What stands in the places of a template: a value, or text in a string. */
interface Filling {
  readonly value: (place: number) => Tree | undefined;
  readonly text: (place: number) => string;
}

/** Returns a form with its places filled; undefined if it has places, and all of them are empty. */
function fill(form: Form, filling: Filling): Tree | undefined {
  if (form.kind === 'constant') return form.tree;
  if (form.kind === 'value') return filling.value(form.place);
  if (form.kind === 'text') {
    let lexeme = '';
    for (const part of form.parts) {
      const text = typeof part === 'number' ? filling.text(part) : part;
      if (text === '' && typeof part === 'number') return undefined;
      lexeme += text;
    }
    return { kind: 'scalar', lexeme };
  }
  const names: string[] = [];
  const values: Tree[] = [];
  let filled = false;
  for (const [i, own] of form.values.entries()) {
    const tree = fill(own, filling);
    if (tree === undefined) continue;
    filled ||= own.kind !== 'constant';
    names.push(form.names?.[i] ?? '');
    values.push(tree);
  }
  if (!filled) return undefined;
  return form.names === undefined ? { kind: 'list', items: values } : { kind: 'members', names, values };
}
