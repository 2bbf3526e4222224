import { mailHeader } from '../blocks/kind.ts';
import type { Span } from './spans.ts';

/** A heading, and how deep it is: it stands under the last one before it that is less deep. */
export interface Heading extends Span {
  readonly level: number;
}

/** Longest heading, in UTF-16 units; `MAX_MAIL_HEAD` is the longest header of a mail. */
const MAX_HEADING = 100;
const MAX_MAIL_HEAD = 600;
const headingText =
  /^(?:#{1,6}\s.*|[=\-*_]{3,}.*|\[?[^.!?:]{0,60}\b(?:session|conversation|chapter|section|part)\b[^.!?]{0,60}|[^.!?]{0,20}\b\d{4}\b[^.!?]{0,20}|[^.!?]{3,60}:)$/i;

/** Whether a line that stands alone reads like a heading. */
export function isHeading(line: string): boolean {
  const text = line.length > 4 * MAX_HEADING ? '' : line.trim();
  return text.length <= MAX_HEADING && !text.includes('\n') && headingText.test(text);
}

const LEVEL = { underlined: 2, page: 3, numbered: 3, plain: 10 };
const marked = /^(#{1,6}) \S/;
const underline = /^([=\-~*^"+#`])\1{2,}\s*$/;
const numbered = /^(\d+(?:\.\d+)*)\.?\s{1,3}["“(]?\p{Lu}[^.!?]*$/u;
/** Matches a line at the margin that may name what is indented below it, as in a manual page. */
const margin = /^[\p{Lu}\p{Lo}][^.:;!?]{1,40}$/u;
const capitals = /^\p{Lu}[\p{Lu}\p{N}\p{So} ,&/()'’-]{2,60}:?$/u;

/**
 * Finds headings where paragraphs begin: marked by `#`, underlined, numbered, in capitals, at the margin above what is indented, or
 * reading like one.
 */
export function headingFinder(): (text: string, paragraph: Span) => Heading | undefined {
  /** Characters that underline titles, in the order in which they came: the first is that of the highest. */
  const underlines: string[] = [];
  return (text, { start, end }) => {
    const first = lineEnd(text, start, end);
    const line = text
      .slice(start, Math.min(first, start + 4 * MAX_HEADING))
      .replace(/^\f/, '')
      .trimEnd();
    const rest = text.slice(first, end);
    const alone = rest.trim() === '';
    const hashes = marked.exec(line)?.[1]?.length;
    if (hashes !== undefined) return { start, end: alone ? end : first, level: hashes };
    const title = line.trim();
    if (title.length > MAX_HEADING) return undefined;
    const second = lineEnd(text, first, end);
    const drawn = underline.exec(text.slice(first, second))?.[1];
    if (drawn !== undefined && /\p{L}/u.test(title) && second - first >= Math.min(5, title.length)) {
      if (!underlines.includes(drawn)) underlines.push(drawn);
      const whole = text.slice(second, end).trim() === '';
      return { start, end: whole ? end : second, level: LEVEL.underlined + underlines.indexOf(drawn) };
    }
    if (alone) {
      const number = numbered.exec(title)?.[1];
      if (number !== undefined) return { start, end, level: LEVEL.numbered + number.split('.').length };
      if (capitals.test(title)) return { start, end, level: LEVEL.page };
      if (isHeading(line)) return { start, end, level: LEVEL.plain + line.search(/\S/) };
    } else if (
      margin.test(line) &&
      rest.split('\n').every((one) => one.trim() === '' || /^[ \t]{2}/.test(one))
    )
      return { start, end: first, level: LEVEL.page };
    if (isMailHead(text.slice(start, end))) return { start, end, level: 1 };
    return undefined;
  };
}

function lineEnd(text: string, start: number, end: number): number {
  const newline = text.indexOf('\n', start);
  return newline < 0 || newline >= end ? end : newline + 1;
}

/** Whether a paragraph is the header of a mail. */
const isMailHead = (paragraph: string): boolean =>
  paragraph.length <= MAX_MAIL_HEAD &&
  paragraph
    .trim()
    .split('\n')
    .every((line) => mailHeader.test(line));
