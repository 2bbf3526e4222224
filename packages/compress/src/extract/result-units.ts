import { continued, ended, prompt, type ResultLine, resultLines, statement } from '../blocks/results.ts';
import { lineSpans, type Span, type Unit } from './spans.ts';

/** Longest record, in UTF-16 units, that is one unit. */
const MAX_RECORD = 400;
interface Line extends Span {
  readonly text: string;
  readonly part: ResultLine | undefined;
}

/**
 * The units of a text with printed results: rows under the names of their columns, these and records under the statement that they answer,
 * or the line that announces them. A statement is one unit, a short record too.
 */
export function resultUnits(text: string, { start, end }: Span): Unit[] {
  const spans = lineSpans(text.slice(start, end));
  const texts = spans.map((span) => text.slice(start + span.start, start + span.end));
  const parts = resultLines(texts);
  const lines = spans.map(
    (span, i): Line => ({
      start: start + span.start,
      end: start + span.end,
      text: texts[i] ?? '',
      part: parts[i],
    }),
  );
  const units: Unit[] = [];
  let asked: number | undefined;
  let head: number | undefined;
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line === undefined) break;
    const last = units.at(-1);
    if (line.text.trim() === '' && last !== undefined) {
      units[units.length - 1] = { ...last, end: line.end };
      if (line.part === undefined && head !== undefined) head = undefined;
      at++;
      continue;
    }
    const after = endOf(lines, at);
    const span = { start: line.start, end: lines[after - 1]?.end ?? line.end };
    const add = (under: number | undefined): void => {
      units.push({ ...span, heading: false, fixed: false, under });
    };
    if (line.part === 'row' || line.part === 'field') add(head ?? asked);
    else {
      add(line.part === undefined && announces(line.text) ? undefined : asked);
      head = line.part === 'head' || line.part === 'record' ? line.start : undefined;
      if (line.part === undefined) asked = announces(line.text) ? line.start : asked;
    }
    at = after;
  }
  return units;
}

const announces = (line: string): boolean => prompt.test(line) || statement.test(line) || /:\s*$/.test(line);

/** Index after the last line of the unit that begins with line `at`. */
function endOf(lines: readonly Line[], at: number): number {
  const partAt = (i: number): ResultLine | undefined => lines[i]?.part;
  const textAt = (i: number): string => lines[i]?.text ?? '';
  const part = partAt(at);
  let end = at + 1;
  if (part === 'head') while (partAt(end) === 'head') end++;
  if (part === 'record') {
    while (partAt(end) === 'field') end++;
    return (lines[end - 1]?.end ?? 0) - (lines[at]?.start ?? 0) <= MAX_RECORD ? end : at + 1;
  }
  if (part !== undefined || !(prompt.test(textAt(at)) || statement.test(textAt(at)))) return end;
  const prompted = prompt.test(textAt(at));
  while (
    end < lines.length &&
    partAt(end) === undefined &&
    textAt(end).trim() !== '' &&
    (prompted ? continued.test(textAt(end)) : !ended.test(textAt(end - 1)) && !prompt.test(textAt(end)))
  )
    end++;
  return end;
}
