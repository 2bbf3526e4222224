import { fromCell, toCell } from '../json/cell.ts';
import type { Members, Tree } from '../json/tree.ts';

const NO_SPECIAL = /\t/;
const first = /^TSV, (\d+) rows:$/;

/** A list of objects whose members come in one order; a member that an object lacks is an empty cell. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Members[];
}

/** Reads a tree as a table; undefined if its objects do not share an order of members. */
export function asTable(tree: Tree): Table | undefined {
  if (tree.kind !== 'list' || tree.items.length < 2) return undefined;
  const columns: string[] = [];
  const rows: Members[] = [];
  for (const item of tree.items) {
    if (item.kind !== 'members' || item.names.length === 0) return undefined;
    rows.push(item);
    if (rows.length === 1) columns.push(...item.names);
  }
  if (columns.some((name) => name === '' || /[\p{Cc}]/u.test(name) || !name.isWellFormed())) return undefined;
  if (new Set(columns).size < columns.length) return undefined;
  return rows.every((row) => inOrder(row.names, columns)) ? { columns, rows } : undefined;
}

/** Returns whether `names` are some of `columns`, in their order. */
function inOrder(names: readonly string[], columns: readonly string[]): boolean {
  let at = 0;
  for (const name of names) {
    while (at < columns.length && columns[at] !== name) at++;
    if (at++ >= columns.length) return false;
  }
  return true;
}

/** Writes a table: `TSV, n rows:`, the header, and a line for each object. */
export function encodeTsv({ columns, rows }: Table): string {
  return [`TSV, ${rows.length} rows:`, columns.join('\t'), ...rows.map((row) => tsvRow(columns, row))].join(
    '\n',
  );
}

function tsvRow(columns: readonly string[], row: Members): string {
  let at = 0;
  return columns
    .map((name) => {
      const value = row.names[at] === name ? row.values[at++] : undefined;
      return value === undefined ? '' : toCell(value, NO_SPECIAL);
    })
    .join('\t');
}

/** Returns the tree that `encodeTsv` was given, or undefined if the text is not such a table. */
export function decodeTsv(text: string): Tree | undefined {
  const [head = '', header = '', ...lines] = text.split('\n');
  if (first.exec(head)?.[1] !== String(lines.length)) return undefined;
  const columns = header.split('\t');
  const items: Members[] = [];
  for (const line of lines) {
    const row = decodeRow(columns, line.split('\t'));
    if (row === undefined) return undefined;
    items.push(row);
  }
  return { kind: 'list', items };
}

function decodeRow(columns: readonly string[], cells: readonly string[]): Members | undefined {
  if (cells.length !== columns.length) return undefined;
  const names: string[] = [];
  const values: Tree[] = [];
  for (const [i, cell] of cells.entries()) {
    if (cell === '') continue;
    const value = fromCell(cell);
    if (value === undefined) return undefined;
    names.push(columns[i] ?? '');
    values.push(value);
  }
  return { kind: 'members', names, values };
}
