import { type Kind, mailHeader, turnLabel } from '../blocks/kind.ts';
import { paragraphsOf } from '../blocks/segments.ts';
import type { LosslessMethod } from '../lossless/lossless.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { jsonUnits, toonUnits } from './json-units.ts';
import { isLined, linedUnits } from './lined.ts';
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
  table: (text) => rowUnits(text, headLines(text)),
  jsonl: (text) => rowUnits(text, 0),
  'json-tsv': (text) => rowUnits(text, 2),
  'jsonl-tsv': (text) => rowUnits(text, 2),
  json: jsonUnits,
  'json-toon': toonUnits,
};

/** The units of a text, in order; together they are the whole text. One fixed unit if the text is never cut. */
export function unitsOf(form: Form, text: string): Unit[] {
  const units = splitters[form]?.(text) ?? [];
  return units.length > 0
    ? withinLimit(text, units)
    : [{ start: 0, end: text.length, heading: false, fixed: true }];
}

export function countedUnits(form: Form, text: string, tokenizer: Tokenizer): CountedUnit[] {
  return counted(text, unitsOf(form, text), tokenizer);
}

/** Longest unit, in UTF-16 units, where the units of a text were too long for a budget. */
const MAX_FINE = 160;

/** The units of a text, cut further where they are long. Those of JSON and of tables in its place are left. */
export function finerUnits(text: string, units: readonly Unit[], tokenizer: Tokenizer): CountedUnit[] {
  const long = (unit: Unit): boolean => !unit.fixed && unit.end - unit.start > MAX_FINE;
  return counted(
    text,
    units.flatMap((unit) => (long(unit) ? piecesOf(text, unit, MAX_FINE) : [unit])),
    tokenizer,
  );
}

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

/** How many lines at the beginning of a table name its columns: one, and the rules below and above it. */
function headLines(text: string): number {
  const [first = '', second = ''] = text.trimStart().slice(0, 4000).split('\n');
  const isRule = (line: string): boolean => /^\s*[|+]?[\s:|+-]+[|+]?\s*$/.test(line) && line.includes('-');
  return isRule(first) ? 3 : isRule(second) ? 2 : 1;
}

/** Longest heading, in UTF-16 units. */
const MAX_HEADING = 100;
const headingText =
  /^(?:#{1,6}\s.*|[=\-*_]{3,}.*|\[?[^.!?:]{0,60}\b(?:session|conversation|chapter|section|part)\b[^.!?]{0,60}|[^.!?]{0,20}\b\d{4}\b[^.!?]{0,20}|[^.!?]{3,60}:)$/i;

function isHeading(line: string): boolean {
  const text = line.length > 4 * MAX_HEADING ? '' : line.trim();
  return text.length <= MAX_HEADING && !text.includes('\n') && headingText.test(text);
}

/** Units of prose: its headings, its paragraphs or their sentences, and the lines of listings. */
function proseUnits(text: string): Unit[] {
  const units: Unit[] = [];
  let under: number | undefined;
  const heading = ({ start, end }: Span): void => {
    units.push({ start, end, heading: true, fixed: false });
    under = start;
  };
  for (const paragraph of paragraphsOf(text, 0, text.length)) {
    let { start } = paragraph;
    const { end } = paragraph;
    for (let line = firstLine(text, start, end); line.end < end; line = firstLine(text, start, end)) {
      if (!/^#{1,6} \S/.test(text.slice(line.start, line.end)) || text.slice(line.end, end).trim() === '')
        break;
      heading(line);
      start = line.end;
    }
    if (isHeading(text.slice(start, end)) || isMailHead(text.slice(start, end))) heading({ start, end });
    else
      for (const unit of paragraphUnits(text, { start, end }))
        units.push({ ...unit, under: unit.under ?? under });
  }
  return units;
}

/** Whether a paragraph is the header of a mail. */
const isMailHead = (paragraph: string): boolean =>
  paragraph.length <= MAX_ENTRY &&
  paragraph
    .trim()
    .split('\n')
    .every((line) => mailHeader.test(line));

function firstLine(text: string, start: number, end: number): Span {
  const newline = text.indexOf('\n', start);
  return { start, end: newline < 0 || newline >= end ? end : newline + 1 };
}

function paragraphUnits(text: string, { start, end }: Span): Unit[] {
  const paragraph = text.slice(start, end);
  if (end - start <= MAX_SENTENCE_PARAGRAPH) return [plain({ start, end })];
  if (!areEntries(paragraph) && !isLined(paragraph)) return sentenceSpans(text, start, end).map(plain);
  return linedUnits(text, { start, end }).flatMap((unit) =>
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
    unit.end - unit.start <= MAX_UNIT ? [unit] : piecesOf(text, unit, MAX_UNIT),
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
