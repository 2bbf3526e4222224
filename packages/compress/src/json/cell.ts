import { compactJson, parseTree, type Scalar, stringValue, type Tree } from './tree.ts';

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Returns whether a lexeme without quotation marks is a JSON scalar. */
export function isBareScalar(text: string): boolean {
  const code = text.charCodeAt(0);
  if (code === 45 || (code >= 48 && code <= 57)) return number.test(text);
  return text === 'true' || text === 'false' || text === 'null';
}

/**
 * Writes a value as a cell of a table: a string without quotes if it can't be taken for anything else, otherwise JSON.
 * `special` matches characters that no unquoted string of the table may hold.
 */
export function toCell(tree: Tree, special: RegExp): string {
  if (tree.kind !== 'scalar' || !tree.lexeme.startsWith('"')) return compactJson(tree);
  const value = stringValue(tree.lexeme);
  return isBare(value, special) ? value : tree.lexeme;
}

/** Parses a cell; undefined if it is not valid. */
export function fromCell(cell: string): Tree | undefined {
  const first = cell.charAt(0);
  if (first === '{' || first === '[' || first === '"') return parseTree(cell);
  return isBareScalar(cell) ? { kind: 'scalar', lexeme: cell } : stringScalar(cell);
}

export function stringScalar(value: string): Scalar {
  return { kind: 'scalar', lexeme: JSON.stringify(value) };
}

/** Matches most strings that can stand without quotes: printable ASCII that begins with a letter and ends with no blank. */
const plain = /^[A-Za-z](?:[ -~]*[!-~])?$/;
const unsafeStart = /^[\s"{[]/;
const control = /[\p{Cc}\p{Zl}\p{Zp}]|\s$/u;

function isBare(value: string, special: RegExp): boolean {
  if (value === '' || special.test(value) || isBareScalar(value)) return false;
  return plain.test(value) || (!unsafeStart.test(value) && !control.test(value) && value.isWellFormed());
}
