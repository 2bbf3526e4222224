import { type Kind, rowHeights, turnLabel } from '../blocks/kind.ts';
import { hasOutput, hasResults, isStatement, resultLines } from '../blocks/results.ts';
import { paragraphsOf } from '../blocks/segments.ts';
import type { LosslessMethod } from '../lossless/lossless.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { codeUnits } from './code-units.ts';
import { type Heading, headingFinder, isHeading } from './headings.ts';
import { jsonUnits, toonUnits } from './json-units.ts';
import { isLined, linedUnits } from './lined.ts';
import { packedUnits } from './packed-units.ts';
import { resultUnits } from './result-units.ts';
import { lineSpans, MAX_UNIT, plain, type Span, safeCut, sentenceSpans, type Unit } from './spans.ts';

const MAX_SENTENCE_PARAGRAPH = 240;
/** Longest line, in UTF-16 units, that is one unit if it is an entry of its own. */
const MAX_ENTRY = 600;

export interface CountedUnit extends Unit {
  readonly tokens: number;
}

/** Form of a text: its kind, or the form that a lossless method gave it. */
export type Form = Kind | LosslessMethod;

const splitters: Readonly<Partial<Record<Form, (text: string) => Unit[]>>> = {
  prose: proseUnits,
  markup: markupUnits,
  dialogue: dialogueUnits,
  log: logUnits,
  search: (text) => rowUnits(text, 0),
  table: tableUnits,
  jsonl: (text) => rowUnits(text, 0),
  'json-tsv': (text) => rowUnits(text, 2),
  'jsonl-tsv': (text) => rowUnits(text, 2),
  json: jsonUnits,
  'json-toon': toonUnits,
  'json-packed': packedUnits,
  'jsonl-packed': packedUnits,
};

/**
 * The units of a text, in order; together they are the whole text. One fixed unit if the text is never cut, as code is
 * unless `code` says that it may be.
 */
export function unitsOf(form: Form, text: string, code = false): Unit[] {
  const units = form === 'code' && code ? codeUnits(text) : (splitters[form]?.(text) ?? []);
  return units.length > 0
    ? withinLimit(text, units)
    : [{ start: 0, end: text.length, heading: false, fixed: true }];
}

export function countedUnits(form: Form, text: string, tokenizer: Tokenizer): CountedUnit[] {
  return counted(text, unitsOf(form, text), tokenizer);
}

/** Longest unit, in UTF-16 units, where the units of a text were too long for a budget. */
const MAX_FINE = 160;

/** Forms whose units are rows and values: cut further, each part stands under the beginning of its row. */
const rows: ReadonlySet<Form> = new Set<Form>([
  'table',
  'json',
  'jsonl',
  'json-tsv',
  'jsonl-tsv',
  'json-toon',
  'json-packed',
  'jsonl-packed',
  'json-compact',
]);

/**
 * The units of a text, cut further where they are long: those of code between paragraphs, under the one that declares, and rows between
 * their cells.
 */
export function finerUnits(
  { form, text, units }: { form: Form; text: string; units: readonly CountedUnit[] },
  tokenizer: Tokenizer,
): CountedUnit[] {
  const long = (unit: Unit): boolean =>
    !unit.fixed && unit.code === undefined && unit.end - unit.start > MAX_FINE;
  return counted(
    text,
    units.flatMap((unit) => {
      if (unit.code !== undefined && unit.end - unit.start > MAX_UNIT) return paragraphsIn(text, unit);
      if (!long(unit)) return [unit];
      return rows.has(form) ? cellsOf(text, unit) : piecesOf(text, unit, MAX_FINE);
    }),
    tokenizer,
  );
}

/** Cuts a row between its cells or members, if it has any; the parts stand under the first. */
function cellsOf(text: string, unit: Unit): Unit[] {
  const units: Unit[] = [];
  for (let start = unit.start; start < unit.end; ) {
    const most = start + MAX_FINE;
    const cell = text.slice(start, most).search(/[,;|\t}][^,;|\t}]*$/) + 1;
    const end =
      unit.end <= most
        ? unit.end
        : cell > MAX_FINE / 4
          ? start + cell
          : safeCut(text, start + MAX_FINE / 2, most);
    units.push({ ...unit, start, end, under: start === unit.start ? unit.under : unit.start });
    start = end;
  }
  return units;
}

const paragraphsIn = (text: string, unit: Unit): Unit[] =>
  paragraphsOf(text, unit.start, unit.end).map((span, i) =>
    i === 0 ? { ...unit, ...span } : { ...unit, ...span, under: unit.start, code: '' },
  );

function counted(text: string, units: readonly Unit[], tokenizer: Tokenizer): CountedUnit[] {
  const counts = tokenizer.countSpans(
    text,
    units.map(({ end }) => end),
  );
  return units.map((unit, i) => ({ ...unit, tokens: counts[i] ?? 0 }));
}

/** Units of a table: lines, of which the first `fixed` name the columns. */
function rowUnits(text: string, fixed: number): Unit[] {
  return lineSpans(text).map((line, i) => ({ ...line, heading: false, fixed: i < fixed }));
}

/** Units of a table, or of several with the statements that they answer. */
function tableUnits(text: string): Unit[] {
  const spans = lineSpans(text);
  const lines = spans.map(({ start, end }) => text.slice(start, end));
  const parts = resultLines(text.trimStart().split('\n'));
  const begins = parts.flatMap((part, i) =>
    part === 'record' || (part === 'head' && parts[i - 1] !== 'head') ? [i] : [],
  );
  if (begins.length > 1 || (begins[0] ?? 0) > 0 || parts[0] === 'record' || hasOutput(lines))
    return resultUnits(text, { start: 0, end: text.length });
  const heights = rowHeights(lines);
  let at = 0;
  return heights.map((height, i) => {
    const [first, last] = [spans[at], spans[at + height - 1]];
    at += height;
    return { start: first?.start ?? 0, end: last?.end ?? 0, heading: false, fixed: i < headLines(text) };
  });
}

/** How many lines at the beginning of a table name its columns: one, and the rules below and above it. */
function headLines(text: string): number {
  const [first = '', second = ''] = text.trimStart().slice(0, 4000).split('\n');
  const isRule = (line: string): boolean => /^\s*[|+]?[\s:|+-]+[|+]?\s*$/.test(line) && line.includes('-');
  return isRule(first) ? 3 : isRule(second) ? 2 : 1;
}

/** Units of prose: its headings, its paragraphs or their sentences, and the lines of listings. */
function proseUnits(text: string): Unit[] {
  const units: Unit[] = [];
  const above: Heading[] = [];
  const levels: number[] = [];
  const parents = new Map<Unit, Heading>();
  const headingAt = headingFinder();
  for (const paragraph of withResults(text)) {
    let { start } = paragraph;
    const { end } = paragraph;
    for (let found = headingAt(text, { start, end }); found !== undefined; ) {
      while ((above.at(-1)?.level ?? 0) >= found.level) above.pop();
      const unit = { start, end: found.end, heading: true, fixed: false };
      const parent = above.at(-1);
      if (parent !== undefined) parents.set(unit, parent);
      units.push(unit);
      above.push(found);
      levels.push(found.level);
      start = found.end;
      found = start < end ? headingAt(text, { start, end }) : undefined;
    }
    if (start < end)
      for (const unit of paragraphUnits(text, { start, end }))
        units.push({ ...unit, under: unit.under ?? above.at(-1)?.start });
  }
  // The only heading of its level is the title of all, and tells no part of the text from another.
  return units.map((unit) => {
    const { start: under, level = 0 } = parents.get(unit) ?? {};
    return levels.filter((one) => one === level).length > 1 ? { ...unit, under } : unit;
  });
}

/** The paragraphs of a text; those of statements and of the results that follow them are one. */
function withResults(text: string): Span[] {
  const paragraphs = paragraphsOf(text, 0, text.length);
  if (!hasResults(text)) return paragraphs;
  const found: Span[] = [];
  let open = false;
  for (const { start, end } of paragraphs) {
    const paragraph = text.slice(start, end);
    const asks = isStatement(paragraph);
    const last = found.at(-1);
    if (open && last !== undefined && (asks || hasResults(paragraph)))
      found[found.length - 1] = { ...last, end };
    else found.push({ start, end });
    open = asks || (open && hasResults(paragraph));
  }
  return found;
}

function paragraphUnits(text: string, { start, end }: Span): Unit[] {
  const paragraph = text.slice(start, end);
  if (end - start <= MAX_SENTENCE_PARAGRAPH) return [plain({ start, end })];
  const results = hasResults(paragraph);
  if (!results && !areEntries(paragraph) && !isLined(paragraph))
    return sentenceSpans(text, start, end).map(plain);
  return (results ? resultUnits : linedUnits)(text, { start, end }).flatMap((unit) =>
    unit.end - unit.start <= MAX_ENTRY
      ? [unit]
      : sentenceSpans(text, unit.start, unit.end).map((own) => ({ ...unit, ...own })),
  );
}

/** Units of markup: its lines, and of long lines the elements. */
function markupUnits(text: string): Unit[] {
  return linedUnits(text, { start: 0, end: text.length }).flatMap((unit) => {
    if (unit.end - unit.start <= MAX_SENTENCE_PARAGRAPH) return [unit];
    const units: Unit[] = [];
    let from = unit.start;
    for (const match of text.slice(unit.start, unit.end).matchAll(/>(?=\s*<[^/])/g)) {
      const at = unit.start + match.index + 1;
      if (at - from < MAX_SENTENCE_PARAGRAPH / 2) continue;
      units.push({ ...unit, start: from, end: at });
      from = at;
    }
    return [...units, { ...unit, start: from }];
  });
}

/** Returns whether each line stands for itself, unlike the lines of a wrapped text. */
function areEntries(paragraph: string): boolean {
  const lines = paragraph.trimEnd().split('\n');
  return (
    lines.length > 2 && lines.filter((line) => /[.!?…:"”’)\]]\s*$/.test(line)).length >= lines.length * 0.7
  );
}

/** Units of a dialogue: a turn reaches from its label to the next; a line that reads like a heading is a unit of its own. */
function dialogueUnits(text: string): Unit[] {
  const units: Unit[] = [];
  let open: Unit | undefined;
  let blankBefore = true;
  let under: number | undefined;
  for (const { start, end } of lineSpans(text)) {
    const line = text.slice(start, Math.min(end, start + 400));
    const blank = line.trim() === '';
    const isTurn = turnLabel.test(line);
    const heading = !isTurn && !blank && blankBefore && isHeading(line);
    if (open !== undefined && !isTurn && !heading && !(open.heading && !blank)) open = { ...open, end };
    else {
      if (open !== undefined) units.push(open);
      open = { start, end, heading, fixed: false, under: heading ? undefined : under };
      if (heading) under = start;
    }
    blankBefore = blank;
  }
  if (open !== undefined) units.push(open);
  return units;
}

/** Units of a log: a line with the lines after it that are indented or continue a stack trace. */
function logUnits(text: string): Unit[] {
  const units: Unit[] = [];
  for (const { start, end } of lineSpans(text)) {
    const last = units.at(-1);
    const goesOn = /^(?:\s+\S|Caused by|Traceback|\[×\d+ more\]|\.\.\. \d+ more)/.test(
      text.slice(start, start + 40),
    );
    if (goesOn && last !== undefined) units[units.length - 1] = { ...last, end };
    else units.push(plain({ start, end }));
  }
  return units;
}

function withinLimit(text: string, units: readonly Unit[]): Unit[] {
  return units.flatMap((unit) =>
    unit.end - unit.start <= MAX_UNIT || unit.code !== undefined ? [unit] : piecesOf(text, unit, MAX_UNIT),
  );
}

/** Cuts a unit that is too long, at a blank if possible, else between two user-perceived characters. */
function piecesOf(text: string, unit: Unit, limit: number): Unit[] {
  const pieces: Unit[] = [];
  for (let start = unit.start; start < unit.end; ) {
    const end = unit.end - start <= limit ? unit.end : safeCut(text, start + limit / 2, start + limit);
    pieces.push({ ...unit, heading: false, start, end });
    start = end;
  }
  return pieces;
}
