import { compactJson, parseTree, type Scalar, stringValue, type Tree } from './tree.ts';

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const literal = /^(?:true|false|null)$/;

/** Returns whether a lexeme without quotation marks is a JSON scalar. */
export const isBareScalar = (text: string): boolean => number.test(text) || literal.test(text);

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

const unsafeStart = /^[\s"{[]/;
const control = /[\p{Cc}\p{Zl}\p{Zp}]|\s$/u;

function isBare(value: string, special: RegExp): boolean {
  return (
    value !== '' &&
    !unsafeStart.test(value) &&
    !control.test(value) &&
    !special.test(value) &&
    !isBareScalar(value) &&
    value.isWellFormed()
  );
}
