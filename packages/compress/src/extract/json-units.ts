import { stringEnd } from '../json/minify.ts';
import { lineSpans, MAX_UNIT, plain, type Span, sentenceSpans, type Unit } from './spans.ts';

/** Length in UTF-16 units from which a string is material, which is cut between its sentences and lines. */
const LONG_STRING = 400;
/** Number of members from which a long object is cut between them, as a list is. */
const MANY_MEMBERS = 12;
/** Length in UTF-16 units from which an object within a long item of a list is one unit, if there is no unit within it. */
const LONG_OBJECT = 200;
/** Lists below this depth belong to the item that they are in. */
const MAX_DEPTH = 32;
const SCALARS = /^[-+.\deE,\s]*$/;

const fixed = (span: Span): Unit => ({ ...span, heading: false, fixed: true });

/** Units of JSON text: the items of lists and the members of long objects (of a long one, those within it), and the sentences of long strings. */
export function jsonUnits(text: string): Unit[] {
  const items: Unit[] = [];
  findItems(text, containerEnds(text), skip(text, 0), 0, items);
  return covering(items, text.length);
}

/** Offsets at which lists and objects end, by the offsets at which they start. */
function containerEnds(text: string): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at) - 1;
    else if (code === 91 || code === 123) open.push(at);
    else if (code === 93 || code === 125) ends.set(open.pop() ?? 0, at + 1);
  }
  return ends;
}

/** Adds the units of the value at `at` that may be cut, and returns the offset at which the value ends. */
function findItems(
  text: string,
  ends: ReadonlyMap<number, number>,
  at: number,
  depth: number,
  found: Unit[],
): number {
  const end = valueEnd(text, ends, at);
  const code = text.charCodeAt(at);
  if (code === 34 && end - at >= LONG_STRING) found.push(...stringUnits(text, at + 1, end - 1));
  if ((code !== 91 && code !== 123) || depth > MAX_DEPTH || end - at < 100) return end;
  const members = membersOf(text, ends, at, end);
  const cuts = code === 91 || (end - at > MAX_UNIT && members.length >= MANY_MEMBERS);
  for (const { start, value, after, end: behind } of members) {
    const before = found.length;
    const isLong = after - value > MAX_UNIT;
    if (!cuts || isLong) findItems(text, ends, value, depth + 1, found);
    else if (code === 123 || !SCALARS.test(text.slice(value, after)))
      found.push(plain({ start, end: behind }));
    const isPart = !cuts && depth > 0 && !isLong && after - value >= LONG_OBJECT;
    if (isPart && text.charCodeAt(value) === 123 && found.length === before)
      found.push(plain({ start, end: behind }));
  }
  return end;
}

/** An item of a list or a member of an object, with the comma behind it. */
interface Member extends Span {
  /** Offset of its value; `after` is that of what follows the value. */
  readonly value: number;
  readonly after: number;
}

/** The items or members of the container `[at, end)`. */
function membersOf(text: string, ends: ReadonlyMap<number, number>, at: number, end: number): Member[] {
  const members: Member[] = [];
  const named = text.charCodeAt(at) === 123;
  for (let start = skip(text, at + 1); start < end - 1; ) {
    const value = named ? skip(text, skip(text, stringEnd(text, start)) + 1) : start;
    const after = skip(text, valueEnd(text, ends, value));
    const behind = text.charCodeAt(after) === 44 ? skip(text, after + 1) : after;
    members.push({ start, value, after, end: behind });
    start = behind;
  }
  return members;
}

function valueEnd(text: string, ends: ReadonlyMap<number, number>, at: number): number {
  const code = text.charCodeAt(at);
  if (code === 34) return stringEnd(text, at);
  const end = ends.get(at);
  if (end !== undefined) return end;
  let scalar = at;
  while (scalar < text.length && !/[,\]}\s]/.test(text.charAt(scalar))) scalar++;
  return Math.max(scalar, at + 1);
}

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}

const escapedNewline = /(?<!\\)(?:\\\\)*(?:\\r)?\\n/g;

/** The lines of a string's lexeme, and the sentences of long lines. */
function stringUnits(text: string, start: number, end: number): Unit[] {
  const lines: Span[] = [];
  let from = start;
  for (const match of text.slice(start, end).matchAll(escapedNewline)) {
    const at = start + match.index + match[0].length;
    lines.push({ start: from, end: at });
    from = at;
  }
  if (from < end) lines.push({ start: from, end });
  return lines
    .flatMap((line) =>
      line.end - line.start < LONG_STRING ? [line] : sentenceSpans(text, line.start, line.end),
    )
    .map(plain);
}

/** Adds fixed units for the text between the given ones, so that together they cover the text. */
function covering(items: readonly Unit[], length: number): Unit[] {
  const units: Unit[] = [];
  let from = 0;
  for (const item of items) {
    if (item.start > from) units.push(fixed({ start: from, end: item.start }));
    units.push(item);
    from = item.end;
  }
  if (from < length) units.push(fixed({ start: from, end: length }));
  return units;
}

const toonTable = /\[(\d+)\]\{.*\}:\n?$/;

/** Units of TOON: the rows of tables, the items of lists, and the sentences of long strings; every other line is fixed. */
export function toonUnits(text: string): Unit[] {
  const lines = lineSpans(text);
  const depths = lines.map(({ start }) => depthAt(text, start));
  const units: Unit[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] ?? { start: 0, end: 0 };
    const content = text.slice(line.start, line.end);
    const rows = Number(toonTable.exec(content)?.[1] ?? 0);
    const after = itemEnd(lines, depths, i, text);
    if (after !== undefined) {
      units.push(plain({ start: line.start, end: lines[after - 1]?.end ?? line.end }));
      i = after;
      continue;
    }
    units.push(...fixedLine(text, line));
    for (const row of lines.slice(i + 1, i + 1 + rows)) units.push(plain(row));
    i += 1 + rows;
  }
  return units;
}

/** Index after the last line of the item that begins with line `i`; undefined if none begins there, or it is too long. */
function itemEnd(
  lines: readonly Span[],
  depths: readonly number[],
  i: number,
  text: string,
): number | undefined {
  const { start } = lines[i] ?? { start: 0 };
  const depth = depths[i] ?? 0;
  if (!text.startsWith('- ', start + depth)) return undefined;
  let end = i + 1;
  while (end < lines.length && (depths[end] ?? 0) > depth) {
    if ((lines[end]?.end ?? 0) - start > MAX_UNIT) return undefined;
    end++;
  }
  return end;
}

function depthAt(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === 32) at++;
  return at - start;
}

function fixedLine(text: string, { start, end }: Span): Unit[] {
  const open = text.indexOf('"', start);
  if (end - start < LONG_STRING || open < 0 || open >= end) return [fixed({ start, end })];
  const close = stringEnd(text, open);
  if (close - open < LONG_STRING || close > end) return [fixed({ start, end })];
  const rest = close - 1 < end ? [fixed({ start: close - 1, end })] : [];
  return [fixed({ start, end: open + 1 }), ...stringUnits(text, open + 1, close - 1), ...rest];
}
