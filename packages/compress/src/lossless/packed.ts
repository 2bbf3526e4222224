import { parseTree, type Tree } from '../json/tree.ts';
import { decodeAliases, encodeAliases } from './aliases.ts';
import { encodeTables } from './tables.ts';
import { decodeTables } from './tables-decode.ts';

/**
 * The ways to write JSON with tables for its lists, and with aliases for what it repeats besides: those that make it shorter. An alias
 * that saves characters may cost tokens.
 */
export function packedForms(tree: Tree, compact: string): string[] {
  const tables = encodeTables(tree, compact);
  return [tables, encodeAliases(tables ?? compact)].filter((text) => text !== undefined);
}

/** Returns the tree that `packedForms` was given, or undefined if the text is not of this form. */
export function decodePacked(text: string): Tree | undefined {
  const whole = decodeAliases(text);
  return decodeTables(whole) ?? parseTree(whole);
}
