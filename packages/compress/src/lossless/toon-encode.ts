import type { List, Members, Scalar, Tree } from '../json/tree.ts';
import { toonKey, toonScalar } from './toon-scalar.ts';

/**
 * Writes a tree as TOON (Token-Oriented Object Notation, comma-delimited, two spaces a level). It departs from TOON so that
 * nothing is lost: numbers keep their lexemes, and a quoted string may hold any of JSON's escapes.
 */
export function encodeToon(tree: Tree): string {
  const lines: string[] = [];
  if (tree.kind === 'members') writeMembers(tree, 0, lines);
  else if (tree.kind === 'list') writeList('', tree, 0, lines);
  else lines.push(toonScalar(tree));
  return lines.join('\n');
}

const indent = (depth: number): string => '  '.repeat(depth);

function writeMembers({ names, values }: Members, depth: number, lines: string[]): void {
  for (const [i, value] of values.entries()) writeMember(toonKey(names[i] ?? ''), value, depth, lines);
}

function writeMember(key: string, value: Tree, depth: number, lines: string[]): void {
  if (value.kind === 'scalar') lines.push(`${indent(depth)}${key}: ${toonScalar(value)}`);
  else if (value.kind === 'list') writeList(key, value, depth, lines);
  else {
    lines.push(`${indent(depth)}${key}:`);
    writeMembers(value, depth + 1, lines);
  }
}

function writeList(key: string, { items }: List, depth: number, lines: string[]): void {
  const head = `${indent(depth)}${key}[${items.length}]`;
  const fields = sharedFields(items);
  if (items.every(isScalar)) {
    lines.push(items.length === 0 ? `${head}:` : `${head}: ${items.map(toonScalar).join(',')}`);
  } else if (fields !== undefined) {
    lines.push(`${head}{${fields.map(toonKey).join(',')}}:`);
    for (const item of items) lines.push(`${indent(depth + 1)}${cells(item).join(',')}`);
  } else {
    lines.push(`${head}:`);
    for (const item of items) writeItem(item, depth + 1, lines);
  }
}

/** Writes an item of a list after a hyphen; the further members of an object are one level deeper. */
function writeItem(item: Tree, depth: number, lines: string[]): void {
  if (item.kind === 'scalar') {
    lines.push(`${indent(depth)}- ${toonScalar(item)}`);
    return;
  }
  const own: string[] = [];
  if (item.kind === 'list') writeList('', item, depth + 1, own);
  else writeMembers(item, depth + 1, own);
  const [first = '', ...rest] = own;
  lines.push(first === '' ? `${indent(depth)}-` : `${indent(depth)}- ${first.trimStart()}`, ...rest);
}

const isScalar = (tree: Tree): tree is Scalar => tree.kind === 'scalar';

/** The names that all items have, in the same order, if every value is a scalar; else undefined. */
function sharedFields(items: readonly Tree[]): readonly string[] | undefined {
  const [first] = items;
  if (first?.kind !== 'members' || first.names.length === 0) return undefined;
  const shared = items.every(
    (item) =>
      item.kind === 'members' &&
      item.names.length === first.names.length &&
      item.names.every((name, i) => name === first.names[i]) &&
      item.values.every(isScalar),
  );
  return shared ? first.names : undefined;
}

function cells(item: Tree): string[] {
  return item.kind === 'members'
    ? item.values.map((value) => (isScalar(value) ? toonScalar(value) : ''))
    : [];
}
