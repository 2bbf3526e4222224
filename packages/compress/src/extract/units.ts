import { type Kind, turnLabel } from '../blocks/kind.ts';
import { paragraphsOf } from '../blocks/segments.ts';
import type { LosslessMethod } from '../lossless/lossless.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';

/** What is kept or cut as a whole: a turn, a sentence, a row, a line. `[start, end)` of the segment's text. */
export interface Unit {
  readonly start: number;
  readonly end: number;
  /** Headings say what the units behind them belong to, and stay with them. */
  readonly heading: boolean;
  /** Rows that name the columns, and others without which the rest can't be read. */
  readonly fixed: boolean;
}

/** No unit is longer, in UTF-16 units: a document may be one line of a megabyte. */
const MAX_UNIT = 1200;
const MAX_SENTENCE_PARAGRAPH = 240;

export interface CountedUnit extends Unit {
  readonly tokens: number;
}

/** What a text is written as: its own kind, or the form that a lossless method gave it. */
export type Form = Kind | LosslessMethod;

const splitters: Readonly<Partial<Record<Form, (text: string) => Unit[]>>> = {
  prose: proseUnits,
  dialogue: dialogueUnits,
  log: logUnits,
  search: (text) => rowUnits(text, 0),
  table: (text) => rowUnits(text, hasRule(text) ? 2 : 1),
  jsonl: (text) => rowUnits(text, 0),
  'json-tsv': (text) => rowUnits(text, 2),
  'jsonl-tsv': (text) => rowUnits(text, 2),
  'json-toon': toonUnits,
};

/** The units of a text, in order; together they are its whole text. One fixed unit where it is never cut. */
export function unitsOf(form: Form, text: string): Unit[] {
  const units = splitters[form]?.(text) ?? [];
  return units.length > 0
    ? withinLimit(text, units)
    : [{ start: 0, end: text.length, heading: false, fixed: true }];
}

export function countedUnits(form: Form, text: string, tokenizer: Tokenizer): CountedUnit[] {
  const units = unitsOf(form, text);
  const counts = tokenizer.countSpans(
    text,
    units.map(({ end }) => end),
  );
  return units.map((unit, i) => ({ ...unit, tokens: counts[i] ?? 0 }));
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const plain = (span: Span): Unit => ({ ...span, heading: false, fixed: false });

/** Lines with their line ends. */
function lineSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    spans.push({ start, end });
    start = end;
  }
  return spans;
}

/** Lines, of which the first `fixed` name the columns. */
function rowUnits(text: string, fixed: number): Unit[] {
  return lineSpans(text).map((line, i) => ({ ...line, heading: false, fixed: i < fixed }));
}

/** Whether the second line is the rule of a Markdown table. */
function hasRule(text: string): boolean {
  const [, second] = lineSpans(text.slice(0, 4000));
  return second !== undefined && /^\s*\|?[\s:|-]+\|?\s*$/.test(text.slice(second.start, second.end));
}

const toonTable = /\[(\d+)\]\{.*\}:\n?$/;

/** The rows of the tables in TOON; every other line stays. */
function toonUnits(text: string): Unit[] {
  let rows = 0;
  return lineSpans(text).map((line) => {
    const fixed = rows <= 0;
    if (fixed) rows = Number(toonTable.exec(text.slice(line.start, line.end))?.[1] ?? 0);
    else rows--;
    return { ...line, heading: false, fixed };
  });
}

/** No heading is longer. */
const MAX_HEADING = 100;
const headingText =
  /^(?:#{1,6}\s.*|[=\-*_]{3,}.*|\[?[^.!?:]{0,60}\b(?:session|conversation|chapter|section|part)\b[^.!?]{0,60}|[^.!?]{0,20}\b\d{4}\b[^.!?]{0,20}|[^.!?]{3,60}:)$/i;

function isHeading(line: string): boolean {
  const text = line.length > 4 * MAX_HEADING ? '' : line.trim();
  return text.length <= MAX_HEADING && !text.includes('\n') && headingText.test(text);
}

function proseUnits(text: string): Unit[] {
  return paragraphsOf(text, 0, text.length).flatMap(({ start, end }) => {
    const paragraph = text.slice(start, end);
    if (isHeading(paragraph)) return [{ start, end, heading: true, fixed: false }];
    if (end - start <= MAX_SENTENCE_PARAGRAPH) return [plain({ start, end })];
    return sentenceSpans(text, start, end).map(plain);
  });
}

const sentenceEnd =
  /(?:[.!?…]["'”’)\]]*\s+(?=["'“‘([*\p{Lu}\p{N}\p{Lo}])|[。！？]["”」』）]*\s*|\n(?=[ \t]*(?:[-*•]|\d+[.)])[ \t]))/gu;
const abbreviation =
  /(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|Inc|Ltd|Co|Fig|Art|Sec|approx|cf)\.)\s*$|(?:^|\n)\s*\d{1,3}[.)]\s*$/;

function sentenceSpans(text: string, start: number, end: number): Span[] {
  const spans: Span[] = [];
  let from = start;
  for (const match of text.slice(start, end).matchAll(sentenceEnd)) {
    const at = start + match.index + match[0].length;
    if (at >= end || abbreviation.test(text.slice(Math.max(from, at - 12), at))) continue;
    spans.push({ start: from, end: at });
    from = at;
  }
  spans.push({ start: from, end });
  return spans;
}

/** A turn reaches from its label to the next; a line that is no turn and reads like a heading stands alone. */
function dialogueUnits(text: string): Unit[] {
  const units: Unit[] = [];
  let open: Unit | undefined;
  let blankBefore = true;
  for (const { start, end } of lineSpans(text)) {
    const line = text.slice(start, Math.min(end, start + 400));
    const blank = line.trim() === '';
    const isTurn = turnLabel.test(line);
    const heading = !isTurn && !blank && blankBefore && isHeading(line);
    if (open !== undefined && !isTurn && !heading && !(open.heading && !blank)) open = { ...open, end };
    else {
      if (open !== undefined) units.push(open);
      open = { start, end, heading, fixed: false };
    }
    blankBefore = blank;
  }
  if (open !== undefined) units.push(open);
  return units;
}

/** A line with those behind it that are indented or go on with a stack trace. */
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

/** Cuts what is too long at a blank, else between two characters that do not belong together. */
function withinLimit(text: string, units: readonly Unit[]): Unit[] {
  return units.flatMap((unit) => {
    if (unit.end - unit.start <= MAX_UNIT) return [unit];
    const pieces: Unit[] = [];
    for (let start = unit.start; start < unit.end; ) {
      const end =
        unit.end - start <= MAX_UNIT ? unit.end : safeCut(text, start + MAX_UNIT / 2, start + MAX_UNIT);
      pieces.push({ ...unit, heading: false, start, end });
      start = end;
    }
    return pieces;
  });
}

function safeCut(text: string, least: number, most: number): number {
  for (let at = most; at > least; at--) if (/\s/.test(text.charAt(at - 1)) && splits(text, at)) return at;
  for (let at = most; at > least; at--) if (splits(text, at)) return at;
  return isLowSurrogate(text, most) ? most - 1 : most;
}

const joinsBackwards = /^(?:\p{M}|\u{200d}|\p{Variation_Selector}|\p{Emoji_Modifier}|[\u{e0020}-\u{e007f}])/u;
const regional = /^[\u{1f1e6}-\u{1f1ff}]/u;

/** Whether two user-perceived characters part at `at` (UAX 29, the cases that emoji and accents need). */
function splits(text: string, at: number): boolean {
  if (isLowSurrogate(text, at) || text.charCodeAt(at - 1) === 0x200d) return false;
  const next = text.slice(at, at + 2);
  return !joinsBackwards.test(next) && !regional.test(next);
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code < 0xe000;
}
