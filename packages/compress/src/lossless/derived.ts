import type { Tree } from '../json/tree.ts';

export interface Column {
  readonly name: string;
  /** Values by row; undefined where a row has none. */
  readonly values: readonly (Tree | undefined)[];
  /** Texts of the values by row, without what is said once for all rows; empty where a row has no value. */
  cells: readonly string[];
}

const printable = /^[ !#-[\]-~]*$/;
/** Matches text that can't stand in a string of JSON or in a cell as it is. */
const unplain = /["\\\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u;
/** Whether a text can stand in a string of JSON and in a cell as it is, and is not taken for no cell. */
export const isPlainText = (text: string): boolean => text !== '' && !unplain.test(text);

/** Shortest text before and after the cells of a column, in UTF-16 units, that is said once. */
const MIN_SHARED = 4;
/** Most parts of a string that are sought. */
const MAX_PARTS = 8;

/**
 * Finds the columns of strings that are made of constant text and the cells of other columns: an address with an id in it. What
 * is left of a string becomes its column's cell. Returns the parts of such strings by column.
 * @param always a column of plain texts, which is a string of its own cells where nothing shorter is found
 */
export function deriveStrings(
  columns: ReadonlySet<Column>,
  always?: Column,
): Map<Column, readonly (string | Column)[]> {
  const found = new Map<Column, readonly (string | Column)[]>();
  const bases: Column[] = [];
  const unquoted = new Set(
    [...columns].filter((column) => unquote(column, column === always ? 0 : MIN_QUOTED)),
  );
  const texts = [...columns].map((column) => ({ column, text: column.cells.join('') }));
  for (const { column, text } of texts.sort((a, b) => a.text.length - b.text.length)) {
    if (!printable.test(text) && unplain.test(text)) continue;
    const whole = unquoted.has(column) ? [column] : undefined;
    const parts = column.values.every(isStringOrNone) ? (partsOf(column, bases) ?? whole) : undefined;
    if (parts !== undefined) found.set(column, parts);
    if (parts === undefined || parts.includes(column)) bases.unshift(column);
  }
  return found;
}

/** Fewest cells in quotation marks for which the pattern has them instead. */
const MIN_QUOTED = 2;

/**
 * Takes the quotation marks from the cells of a column of strings of which at least so many look like numbers or other JSON; returns
 * whether it did. A cell of which nothing is left would count as none.
 */
function unquote(column: Column, least: number): boolean {
  const quoted = column.cells.filter((cell) => cell.startsWith('"')).length;
  if (quoted < least || !column.values.every(isStringOrNone)) return false;
  const cells = column.cells.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1) : cell));
  if (cells.some((cell, row) => unplain.test(cell) || (cell === '' && column.cells[row] !== '')))
    return false;
  column.cells = cells;
  return true;
}

const isStringOrNone = (value: Tree | undefined): boolean =>
  value === undefined || (value.kind === 'scalar' && value.lexeme.startsWith('"'));

/** The parts of a column's strings, its own cells among them unless nothing is left. Undefined if its strings share nothing. */
function partsOf(column: Column, bases: readonly Column[]): (string | Column)[] | undefined {
  const rows = column.cells.flatMap((cell, row) => (cell === '' ? [] : [row]));
  let rest = rows.map((row) => column.cells[row] ?? '');
  const parts: (string | Column)[] = [];
  const take = (length: (text: string, i: number) => number): void => {
    rest = rest.map((text, i) => text.slice(length(text, i)));
  };
  while (parts.length < MAX_PARTS) {
    const prefix = commonPrefix(rest);
    if (prefix !== '') parts.push(prefix);
    take(() => prefix.length);
    const base = bases.find((base) => begins(base, rows, rest, column));
    if (base === undefined) break;
    parts.push(base);
    take((_, i) => (base.cells[rows[i] ?? 0] ?? '').length);
  }
  if (rest.every((text) => text === '')) return parts.length > 1 ? parts : undefined;
  const suffix = commonSuffix(rest);
  const left = rest.map((text) => text.slice(0, text.length - suffix.length));
  const said = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : MIN_SHARED), 0);
  const shared = said + suffix.length >= MIN_SHARED;
  if (!shared || left.includes('')) return undefined;
  column.cells = column.cells.map((cell) => (cell === '' ? '' : (left.shift() ?? '')));
  return suffix === '' ? [...parts, column] : [...parts, column, suffix];
}

/** Returns whether the texts begin with the cells of a column, as whole words, in each row that has a text. */
function begins(base: Column, rows: readonly number[], texts: readonly string[], own: Column): boolean {
  const matches = rows.every((row, i) => {
    const cell = base.cells[row] ?? '';
    const text = texts[i] ?? '';
    return cell !== '' && text.startsWith(cell) && !isWord(text, cell.length);
  });
  return matches && base.cells.every((cell, row) => (cell === '') === (own.cells[row] === ''));
}

const wordCharacter = /[\p{L}\p{N}]/u;
const isWord = (text: string, at: number): boolean => wordCharacter.test(text.charAt(at));
const isSurrogate = (text: string, at: number): boolean => /[\ud800-\udfff]/.test(text.charAt(at));

/** The text that all texts begin with, up to the end of a separator unless it is all of them. */
function commonPrefix(texts: readonly string[]): string {
  const [first = ''] = texts;
  let length = first.length;
  for (const text of texts) {
    let own = 0;
    while (own < length && text.charCodeAt(own) === first.charCodeAt(own)) own++;
    length = own;
  }
  if (texts.some((text) => text.length > length))
    while (length > 0 && (isWord(first, length - 1) || isSurrogate(first, length - 1))) length--;
  return first.slice(0, length);
}

/** The text that all texts end with, from the start of a separator. */
function commonSuffix(texts: readonly string[]): string {
  const [first = ''] = texts;
  let from = 0;
  for (const text of texts) {
    const ahead = first.length - text.length;
    let own = first.length;
    while (own > from && own > ahead && text.charCodeAt(own - 1 - ahead) === first.charCodeAt(own - 1)) own--;
    from = own;
  }
  while (from < first.length && (isWord(first, from) || isSurrogate(first, from))) from++;
  return first.slice(from);
}
