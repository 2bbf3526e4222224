import type { Stretch } from './text.ts';
import { isUnique, linesOf } from './text.ts';

type Finder = (text: string) => Stretch[];

const matching =
  (pattern: RegExp): Finder =>
  (text) =>
    linesOf(text).filter(({ text: line, at }) => pattern.test(line) && (at === 0 || text[at - 1] === '\n'));

const markdown = matching(/^#{1,4} \S/);
const sections = matching(/^\[[^\]]+\]$/);
const page = matching(/^[\p{Lu}\p{Lo}][^.:]{2,40}$/u);
const markdownOrPage: Finder = (text) => (markdown(text).length > 0 ? markdown(text) : page(text));
const cues = matching(/^\d\d:\d\d:\d\d\.\d+ --> /);

/** Lines above a line of `===` or `---`, and lines with a number of a chapter. */
const underlined: Finder = (text) => {
  const lines = linesOf(text);
  return lines.filter(
    ({ text: line }, i) => /^(?:=|-|\*|~){4,}$/.test(lines[i + 1]?.text ?? '') && /\p{L}/u.test(line),
  );
};
const numbered = matching(/^\d+(?:\.\d+)*\.? {1,3}\p{Lu}[^.]{2,60}$/u);
const firstLine: Finder = (text) => linesOf(text).slice(0, 1);

const finders: Readonly<Record<string, Finder>> = {
  manual: (text) => [...underlined(text), ...numbered(text)],
  'INI and key-value': sections,
  CSV: firstLine,
  'Markdown READMEs': markdown,
  'numbered steps': markdown,
  changelogs: (text) => [...markdown(text), ...underlined(text), ...matching(/^CHANGES WITH /)(text)],
  'RFC-like specifications': (text) => [...underlined(text), ...numbered(text)],
  'man pages': page,
  German: page,
  French: markdownOrPage,
  Spanish: page,
  Chinese: markdownOrPage,
  Japanese: markdownOrPage,
  'transcripts and sessions': cues,
};

const LEAST = 4;

/** What names the text below it, in order: headings, sections of settings, the head of a table, time codes. */
export function headingsOf(kind: string, text: string): Stretch[] {
  const found = finders[kind]?.(text) ?? [];
  return found
    .filter(({ text: heading }) => heading.length >= LEAST && isUnique(heading, text))
    .toSorted((a, b) => a.at - b.at);
}

/** The heading that a place in the text stands under. */
export function headingAt(headings: readonly Stretch[], at: number): string | undefined {
  return headings.findLast((heading) => heading.at < at)?.text;
}
