import { parseTree, type Tree } from '../json/tree.ts';
import { decodeAliases, encodeAliases } from './aliases.ts';
import { encodeTables } from './tables.ts';
import { decodeTables } from './tables-decode.ts';
import { decodeUnquoted, encodeUnquoted } from './unquoted.ts';

/** Longest JSON, in UTF-16 units, whose tables may cost more than they save. */
const SHORT = 1500;

/**
 * The ways to write JSON with few quotation marks, with tables for its lists, and with aliases for what it repeats besides. An alias that
 * saves characters may cost tokens, and so may the tables of short JSON.
 */
export function packedForms(tree: Tree, compact: string): string[] {
  const tables = encodeTables(tree, compact);
  const plain = tables === undefined || compact.length <= SHORT ? compact : undefined;
  const texts = [plain, tables].filter((text) => text !== undefined).map(encodeUnquoted);
  return texts.flatMap((text) => [text, encodeAliases(text)]).filter((text) => text !== undefined);
}

/** Returns the tree that `packedForms` was given, or undefined if the text is not of this form. */
export function decodePacked(text: string): Tree | undefined {
  const whole = decodeUnquoted(decodeAliases(text));
  return decodeTables(whole) ?? parseTree(whole);
}
