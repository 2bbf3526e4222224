import { lineSpans, type Span, type Unit } from './spans.ts';

/** Returns whether each line of a paragraph stands for itself, as in a listing, unlike the lines of a wrapped text. */
export function isLined(paragraph: string): boolean {
  const lines = paragraph.trimEnd().split('\n');
  return lines.length >= 4 && !isWrapped(lines);
}

/** Matches lines of scripts that are written without spaces. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{4}/u;

/** Whether a text was wrapped: most lines have no room for the next line's first word, and are words, not columns. */
function isWrapped(lines: readonly string[]): boolean {
  const width = lines.reduce((most, line) => Math.max(most, line.trimEnd().length), 0);
  if (lines.filter((line) => unspaced.test(line)).length > lines.length / 2) {
    const full = lines.slice(0, -1).filter((line) => line.trimEnd().length >= width * 0.6);
    return full.length >= (lines.length - 1) * 0.6;
  }
  const words = lines.flatMap((line) => line.trim().split(/\s+/));
  const columns = lines.filter((line) => /\S {2,}\S|\t/.test(line)).length;
  if (words.length < lines.length * 5 || columns * 4 > lines.length) return false;
  if (
    words.filter((word) => /^["'“‘(]*\p{L}+[\p{L}'’-]*[.,;:!?"'”’)]*$/u.test(word)).length <
    words.length * 0.6
  )
    return false;
  const full = lines.slice(0, -1).filter((line, i) => {
    const next = /^\S+/.exec((lines[i + 1] ?? '').trim())?.[0].length ?? 0;
    return line.trimEnd().length + 1 + next > width;
  });
  return full.length >= (lines.length - 1) * 0.7 || runsOn(lines);
}

/** Whether most lines go on with the sentence of the line before, and sentences end within lines or with the last one. */
function runsOn(lines: readonly string[]): boolean {
  const ends = lines.map((line) => /[.!?:;]["'”’)\]]*\s*$/.test(line));
  const goesOn = lines.filter(
    (line, i) => i > 0 && ends[i - 1] === false && /^\s*["'“‘(]*\p{Ll}/u.test(line),
  );
  if (goesOn.length < (lines.length - 1) * 0.5) return false;
  const within = lines.some((line) => /\p{L}{2}["”)]?[.!?]["”)]?\s+["“(]?\p{Lu}/u.test(line));
  return within || ends.indexOf(true) === lines.length - 1;
}

/** Matches a line that says what the lines after it belong to: a section of INI, a lead, columns' names. */
const head = /^\s*(?:\[[^\]]+\]|[^.!?]{1,100}:|[A-Z][A-Z\d_%()-]*(?:\s+[A-Z][A-Z\d_%()-]*)+)\s*$/;
const rule = /^[\s|+=-]*[-=]{3,}[\s|+=-]*$/;

/** The lines `[start, end)` of a text as units. A line stands under the last line before it that is indented less, or a head. */
export function linedUnits(text: string, { start, end }: Span): Unit[] {
  const units: Unit[] = [];
  const open: { start: number; indent: number }[] = [];
  const spans = lineSpans(text.slice(start, end));
  for (const [at, span] of spans.entries()) {
    const line = text.slice(start + span.start, start + span.end);
    const ruled =
      at === 0 && rule.test(text.slice(start + (spans[1]?.start ?? 0), start + (spans[1]?.end ?? 0)));
    const indent =
      ruled || (head.test(line) && !/^\s/.test(line)) ? -1 : (/^[ \t]*/.exec(line)?.[0].length ?? 0);
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= indent) open.pop();
    units.push({
      start: start + span.start,
      end: start + span.end,
      heading: false,
      fixed: false,
      under: open.at(-1)?.start,
    });
    if (line.trim() !== '') open.push({ start: start + span.start, indent });
  }
  return units;
}
