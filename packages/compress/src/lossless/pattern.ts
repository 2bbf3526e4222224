import { stringScalar, toCell } from '../json/cell.ts';
import { compactJson, type Members, sameTree, type Tree } from '../json/tree.ts';
import { type Column, deriveStrings, isPlainText } from './derived.ts';

/** What the items of a list have in common, with a place for each column of what differs. */
export type Pattern = Constant | CellPlace | TextPattern | Group;
interface Constant {
  readonly kind: 'constant';
  readonly json: string;
}
interface CellPlace {
  readonly kind: 'cell';
  readonly column: Column;
}
/** A string of constant text and the cells of columns. */
interface TextPattern {
  readonly kind: 'text';
  readonly parts: readonly (string | Column)[];
}
/** An object, or without names a list, which is left out where all its cells are empty. */
interface Group {
  readonly kind: 'group';
  readonly names: readonly string[] | undefined;
  readonly values: readonly Pattern[];
}

/** Longest list within an item whose items get columns of their own. */
const MAX_ITEMS = 8;

/** Matches what separates the cells of a row. */
const TAB = /\t/;

/** Reads a list of at least two objects as a pattern with columns; undefined if the objects have too little in common. */
export function patternOf(items: readonly Tree[]): Pattern | undefined {
  if (items.length < 2 || items.some(({ kind }) => kind !== 'members')) return undefined;
  const columns = new Columns();
  const group = groupOf(items, '', columns);
  return group === undefined ? undefined : withTexts(group, deriveStrings(new Set(columnsOf(group))));
}

/** What the members of an object have in common: a string or a cell for their names, and a pattern for their values. */
export interface MemberPattern {
  readonly name: TextPattern | CellPlace;
  readonly value: Pattern;
}

/** Fewest members of an object that is a table. */
const MIN_MEMBERS = 4;

/** Reads an object whose members are objects as a pattern with columns; undefined if they have too little in common. */
export function memberPatternOf({ names, values }: Members): MemberPattern | undefined {
  if (names.length < MIN_MEMBERS || values.some(({ kind }) => kind !== 'members')) return undefined;
  if (new Set(names).size < names.length) return undefined;
  const columns = new Columns();
  const name = columns.of(names.map(stringScalar), 'name');
  const value = groupOf(values, '', columns);
  if (value === undefined) return undefined;
  const always = names.every(isPlainText) ? name : undefined;
  const texts = deriveStrings(new Set([name, ...columnsOf(value)]), always);
  const parts = texts.get(name);
  return {
    name: parts === undefined ? { kind: 'cell', column: name } : { kind: 'text', parts },
    value: withTexts(value, texts),
  };
}

/** Values of the rows at one place; undefined where a row has none. */
type Values = readonly (Tree | undefined)[];

/** The columns of a table. Places with the same cells share one. */
class Columns {
  readonly #byCells = new Map<string, Column>();

  of(values: Values, name: string): Column {
    const cells = values.map((value) => (value === undefined ? '' : toCell(value, TAB)));
    const key = cells.join('\t');
    const column = this.#byCells.get(key) ?? { name, values, cells };
    this.#byCells.set(key, column);
    return column;
  }
}

function unify(values: Values, name: string, columns: Columns): Pattern {
  const json = constantOf(values);
  if (json !== undefined) return { kind: 'constant', json };
  return groupOf(values, name, columns) ?? { kind: 'cell', column: columns.of(values, name) };
}

/** The JSON of a value that all rows have; undefined if they differ. */
function constantOf([first, ...rest]: Values): string | undefined {
  if (first === undefined) return undefined;
  const same = rest.every((value) => value !== undefined && sameTree(first, value));
  return same ? compactJson(first) : undefined;
}

function groupOf(values: Values, name: string, columns: Columns): Group | undefined {
  const group = membersOf(values, columns) ?? itemsOf(values, name, columns);
  if (group === undefined) return undefined;
  // Where the group is, and nowhere else, at least one of its cells must not be empty.
  const own = columnsOf(group);
  const marks = values.every(
    (value, row) => own.some(({ cells }) => cells[row] !== '') === (value !== undefined),
  );
  return marks ? group : undefined;
}

function membersOf(values: Values, columns: Columns): Group | undefined {
  const present: Members[] = [];
  for (const value of values) {
    if (value === undefined) continue;
    if (value.kind !== 'members' || value.names.length === 0) return undefined;
    present.push(value);
  }
  const names = sharedNames(present);
  if (names === undefined) return undefined;
  const rows = values.map((value) => (value?.kind === 'members' ? membersIn(value, names) : undefined));
  return {
    kind: 'group',
    names,
    values: names.map((name, i) =>
      unify(
        rows.map((row) => row?.[i]),
        name,
        columns,
      ),
    ),
  };
}

/** The members of an object by `names`, of which it has some in their order; undefined in place of those that it lacks. */
function membersIn({ names: own, values }: Members, names: readonly string[]): (Tree | undefined)[] {
  let at = 0;
  return names.map((name) => (own[at] === name ? values[at++] : undefined));
}

/** The names of all objects in an order that each of them keeps; undefined if there is none, or they have little in common. */
function sharedNames(objects: readonly Members[]): readonly string[] | undefined {
  let longest: readonly string[] = [];
  for (const { names } of objects) if (names.length > longest.length) longest = names;
  if (new Set(longest).size < longest.length) return undefined;
  if (objects.every(({ names }) => inOrder(names, longest))) return longest;
  const names = mergedOrder(objects);
  if (names === undefined || names.length > longest.length * 2) return undefined;
  return objects.every((object) => inOrder(object.names, names)) ? names : undefined;
}

/** All names of the objects in an order in which each stands behind those before it in any object; undefined if there is none. */
function mergedOrder(objects: readonly Members[]): string[] | undefined {
  /** The names that stand directly behind a name somewhere. */
  const behind = new Map<string, Set<string>>();
  for (const { names } of objects) {
    for (const [i, name] of names.entries()) {
      if (!behind.has(name)) behind.set(name, new Set());
      if (i > 0) behind.get(names[i - 1] ?? '')?.add(name);
    }
  }
  /** How many of the names directly before a name are still to come. */
  const waiting = new Map<string, number>();
  for (const own of behind.values()) for (const name of own) waiting.set(name, (waiting.get(name) ?? 0) + 1);
  const places = new Map([...behind.keys()].map((name, place) => [name, place]));
  const placeOf = (name: string | undefined): number => places.get(name ?? '') ?? 0;
  /** The names that may come next, the one that was met first at the end. There are no more of them than objects, about. */
  const ready = [...behind.keys()].filter((name) => !waiting.has(name)).reverse();
  const order: string[] = [];
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    order.push(name);
    for (const next of behind.get(name) ?? []) {
      const left = (waiting.get(next) ?? 0) - 1;
      waiting.set(next, left);
      if (left > 0) continue;
      let at = ready.length;
      while (at > 0 && placeOf(ready[at - 1]) < placeOf(next)) at--;
      ready.splice(at, 0, next);
    }
  }
  return order.length === behind.size ? order : undefined;
}

/** Returns whether `names` are some of `columns`, in their order. */
function inOrder(names: readonly string[], columns: readonly string[]): boolean {
  let at = -1;
  return names.every((name) => {
    const found = columns[at + 1] === name ? at + 1 : columns.indexOf(name, at + 1);
    at = found;
    return found >= 0;
  });
}

function itemsOf(values: Values, name: string, columns: Columns): Group | undefined {
  let length: number | undefined;
  for (const value of values) {
    if (value === undefined) continue;
    if (value.kind !== 'list' || value.items.length !== (length ?? value.items.length)) return undefined;
    length = value.items.length;
  }
  if (length === undefined || length === 0 || length > MAX_ITEMS) return undefined;
  const places = Array.from({ length }, (_, i) =>
    values.map((value) => (value?.kind === 'list' ? value.items[i] : undefined)),
  );
  return {
    kind: 'group',
    names: undefined,
    values: places.map((place, i) => unify(place, `${name}.${i}`, columns)),
  };
}

/** The columns of a pattern, in the order of their places. */
function columnsOf(pattern: Pattern): readonly Column[] {
  if (pattern.kind === 'cell') return [pattern.column];
  return pattern.kind === 'group' ? pattern.values.flatMap(columnsOf) : [];
}

function withTexts(pattern: Pattern, texts: ReadonlyMap<Column, TextPattern['parts']>): Pattern {
  if (pattern.kind === 'group')
    return { ...pattern, values: pattern.values.map((value) => withTexts(value, texts)) };
  const parts = pattern.kind === 'cell' ? texts.get(pattern.column) : undefined;
  return parts === undefined ? pattern : { kind: 'text', parts };
}
