import { type Kind, turnLabel } from '../blocks/kind.ts';
import { paragraphsOf } from '../blocks/segments.ts';
import type { LosslessMethod } from '../lossless/lossless.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { jsonUnits, toonUnits } from './json-units.ts';
import { lineSpans, MAX_UNIT, plain, safeCut, sentenceSpans, type Unit } from './spans.ts';

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
  dialogue: dialogueUnits,
  log: logUnits,
  search: (text) => rowUnits(text, 0),
  table: (text) => rowUnits(text, hasRule(text) ? 2 : 1),
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
  const units = unitsOf(form, text);
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

/** Returns whether the second line is the delimiter row of a Markdown table. */
function hasRule(text: string): boolean {
  const [, second] = lineSpans(text.slice(0, 4000));
  return second !== undefined && /^\s*\|?[\s:|-]+\|?\s*$/.test(text.slice(second.start, second.end));
}

/** Longest heading, in UTF-16 units. */
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
    const lines = lineSpans(paragraph).map((line) => ({ start: start + line.start, end: start + line.end }));
    const stretches = areEntries(paragraph) ? lines : [{ start, end }];
    return stretches
      .flatMap((stretch) =>
        stretch.end - stretch.start <= MAX_ENTRY && stretches === lines
          ? [stretch]
          : sentenceSpans(text, stretch.start, stretch.end),
      )
      .map(plain);
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

/** Cuts units that are too long, at a blank if possible, else between two user-perceived characters. */
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
