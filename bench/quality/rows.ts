import { Random } from './random.ts';

type Scalar = string | number | boolean;
export type Cell = Scalar | Row | readonly Row[];
export interface Row {
  readonly [column: string]: Cell;
}

/** How the cells of a column are drawn. */
export type Field =
  | { readonly serial: string; readonly from: number; readonly step: number }
  | { readonly pick: readonly Scalar[] }
  | { readonly int: readonly [number, number] }
  | { readonly decimal: readonly [number, number] }
  | { readonly date: readonly [string, string] }
  | { readonly stamp: readonly [string, string] }
  | { readonly time: readonly [string, string] }
  | { readonly hex: number }
  | { readonly list: Fields; readonly min: number; readonly max: number };

export interface Fields {
  readonly [column: string]: Field | Fields;
}

/** A hand-written row, and its position among the drawn ones: 0 at the beginning, 1 at the end. */
export interface Planted {
  readonly at: number;
  readonly row: Row;
}

/** `count` drawn rows, with the hand-written ones inserted. */
export function drawRows(fields: Fields, count: number, planted: readonly Planted[], seed: string): Row[] {
  const random = new Random(seed);
  const rows = Array.from({ length: count }, (_, i) => drawRow(fields, i, random));
  for (const { at, row } of planted) rows.splice(Math.round(at * rows.length), 0, row);
  return rows;
}

function drawRow(fields: Fields, index: number, random: Random): Row {
  return Object.fromEntries(
    Object.entries(fields).map(([column, field]) => [column, drawCell(field, index, random)]),
  );
}

function drawCell(field: Field | Fields, index: number, random: Random): Cell {
  const drawn = Object.entries(draw).find(([name]) => name in field)?.[1];
  return drawn === undefined ? drawRow(field as Fields, index, random) : drawn(field as never, index, random);
}

type Of<Name extends string> = Extract<Field, Readonly<Record<Name, unknown>>>;

const draw = {
  serial: ({ serial, from, step }: Of<'serial'>, index: number) => `${serial}${from + step * index}`,
  pick: ({ pick }: Of<'pick'>, _: number, random: Random) => random.pick(pick),
  int: ({ int }: Of<'int'>, _: number, random: Random) => random.integer(...int),
  decimal: ({ decimal: [least, most] }: Of<'decimal'>, _: number, random: Random) =>
    random.integer(least * 100, most * 100) / 100,
  date: ({ date }: Of<'date'>, _: number, random: Random) => between(date, random).slice(0, 10),
  stamp: ({ stamp }: Of<'stamp'>, _: number, random: Random) => `${between(stamp, random).slice(0, 19)}Z`,
  time: ({ time: [first, last] }: Of<'time'>, _: number, random: Random) =>
    between([`2026-01-01T${first}:00Z`, `2026-01-01T${last}:00Z`], random).slice(11, 16),
  hex: ({ hex }: Of<'hex'>, _: number, random: Random) =>
    Array.from({ length: hex }, () => random.integer(0, 15).toString(16)).join(''),
  list: ({ list, min, max }: Of<'list'>, index: number, random: Random) =>
    Array.from({ length: random.integer(min, max) }, () => drawRow(list, index, random)),
};

function between([first, last]: readonly [string, string], random: Random): string {
  const from = Date.parse(first);
  return new Date(from + Math.floor(random.next() * (Date.parse(last) - from))).toISOString();
}

/** A scalar cell as a table shows it. */
export function cellText(cell: Cell | undefined): string {
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell ?? '');
}
