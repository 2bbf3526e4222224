/** Kind of a stretch of text, which decides what may be done to it. */
export type Kind =
  | 'instructions'
  | 'code'
  | 'diff'
  | 'schema'
  | 'json'
  | 'jsonl'
  | 'log'
  | 'search'
  | 'table'
  | 'markup'
  | 'dialogue'
  | 'prose';

/** Kinds whose bytes are never changed, in any tier. */
export const frozenKinds: ReadonlySet<Kind> = new Set(['instructions', 'code', 'diff', 'schema']);

/** Most lines of a text that are read to tell its kind. */
const SAMPLE = 400;
const SAMPLE_LINE = 400;

/** The kind of a text without fences and without JSON, from its lines. */
export function kindOfPlain(text: string): Kind {
  const lines = sampledLines(text);
  if (lines.length === 0) return 'prose';
  if (isDiff(lines)) return 'diff';
  if (share(lines, searchHit) >= 0.6) return 'search';
  if (isMarkup(lines)) return 'markup';
  if (isCode(lines)) return 'code';
  if (isTable(lines)) return 'table';
  const logged = share(lines, logLine);
  if (logged >= 0.4 && share(lines, logLevel) >= 0.3) return 'log';
  if (isDialogue(lines)) return 'dialogue';
  return logged >= 0.4 ? 'log' : 'prose';
}

/** Lines that are not blank: all of them, or of a long text some from its beginning, middle and end. */
function sampledLines(text: string): string[] {
  const lines = text.split('\n', SAMPLE * 50);
  const third = Math.floor(SAMPLE / 3);
  const middle = Math.floor(lines.length / 2);
  const taken =
    lines.length <= SAMPLE
      ? lines
      : [...lines.slice(0, third), ...lines.slice(middle, middle + third), ...lines.slice(-third)];
  return taken.map((line) => line.slice(0, SAMPLE_LINE).trimEnd()).filter((line) => line !== '');
}

function share(lines: readonly string[], pattern: RegExp): number {
  return lines.filter((line) => pattern.test(line)).length / lines.length;
}

const hunk = /^(?:@@ -\d+(?:,\d+)? \+\d+|diff --git |Index: )/;
const fileLine = /^(?:--- |\+\+\+ )/;

function isDiff(lines: readonly string[]): boolean {
  return (
    lines.some((line) => hunk.test(line)) &&
    lines.some((line) => fileLine.test(line) || line.startsWith('@@ '))
  );
}

export const searchHit = /^(?:\.{0,2}\/)?[\w.@+-]+(?:[/\\][\w.@+-]+)*\.\w+[:-]\d+[:-]/;

const stamp = String.raw`\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ]?|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{10}(?:\d{3})?\b)`;
const level = String.raw`\b(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRIT(?:ICAL)?|SEVERE|PANIC)\b|level=\w+`;
export const logLine = new RegExp(`^(?:${stamp}|\\[?(?:${level})|[IWEF]\\d{4} |\\d+\\.\\d+\\.\\d+\\.\\d+ )`);
const logLevel = new RegExp(level);

/** Line number as `cat -n` and editors' read tools put it before each line. */
const lineNumber = /^\s*\d+(?:\t|→|[:|] ?)/;
const codeLine =
  /[{};]\s*$|^\s*(?:import|export|from \S+ import|def|class|function|async|const|let|var|return|if ?\(|for ?\(|while ?\(|else\b|elif\b|try:|except\b|package|func|fn|pub|use|impl|struct|enum|interface|type \w+ =|public|private|protected|static|#include|#define|#!\/|SELECT|INSERT|UPDATE|CREATE|ALTER|WITH|FROM|WHERE)\b.*[({:;=,)>\]]?\s*$|^\s*(?:\/\/|\/\*|\*\/|@\w+|<\/?\w[^>]*>)|^\s+[\w.[\]]+ ?[+-]?= ?\S|^\s*[\w.]+\(.*\)[;,]?\s*$|\)\s*(?:=>|->|:)\s*\S*$/;
const sentence = /^[A-Z"“][^;{}()=<>]*[a-z,]+ [^;{}()=<>]*[.!?…]["”)]?$/;

/** Returns whether there are at least three lines, of which most look like code and few like sentences. */
export function isCode(lines: readonly string[]): boolean {
  if (lines.length < 3) return false;
  const bare = lines.map((line) => line.replace(lineNumber, '')).filter((line) => line.trim() !== '');
  // A line with an asterisk is an item of a list, unless a comment was opened.
  const commented = bare.some((line) => line.includes('/*')) ? share(bare, /^\s*\*(?: |$)/) : 0;
  return bare.length > 0 && share(bare, codeLine) + commented >= 0.5 && share(bare, sentence) < 0.25;
}

const element = /^\s*<[/!?]?[a-z][^<>]*>/i;
/** Matches a line of a program that has elements in it. */
const script = /[;{]\s*$|=>|^\s*(?:import|export|const|let|var|function|return|class)\b|=\{/;

/** Whether most lines are elements of XML or HTML, and hardly any is of a program. */
function isMarkup(lines: readonly string[]): boolean {
  return share(lines, element) >= 0.5 && share(lines, script) <= 0.05;
}

function isTable(lines: readonly string[]): boolean {
  if (lines.length < 4) return false;
  if (share(lines, /^\s*\|.*\|$/) >= 0.6) return true;
  return ['\t', ',', ';', '|'].some((separator) => sameCells(lines, separator));
}

function sameCells(lines: readonly string[], separator: string): boolean {
  const counts = lines.map((line) => line.replaceAll(/"(?:[^"]|"")*"/g, '""').split(separator).length);
  const cells = counts[0] ?? 0;
  return cells >= 3 && counts.filter((count) => count === cells).length / lines.length >= 0.9;
}

const labelPrefix = [
  String.raw`[*#>-]{1,4}\s*`,
  String.raw`(?:turn )?#?\d{1,4}[.)]?(?: [-–])? `,
  String.raw`[[(][^\])\n]{1,40}[\])]:?\s*`,
  String.raw`\w{1,4}:\d+\s+`,
  String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?Z?,?\s*[-–|]?\s*`,
  String.raw`\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?\s*[-–]?\s*`,
].map((prefix) => `(?:${prefix})?`);
const role = 'user|assistant|system|human|ai|bot|agent|customer|caller|speaker|interviewer|me|you';
const speaker = String.raw`([\p{Lu}\p{Lo}][\p{L}\p{N}_.'’ -]{0,30}?|${role})`;
const afterSpeaker = String.raw`(?: \([^)\n]{1,40}\))?(?:\**:\**(?:\s|$)| (?:said|says|asked|replied|answered|wrote)[,:] )`;

/** Matches a speaker's label at the start of a line: perhaps a number, a turn's id or a time, then a short name and a colon. */
export const turnLabel = new RegExp(
  String.raw`^\s*(?:${labelPrefix.join('')}\**${speaker}${afterSpeaker}|(?:\[[^\]\n]{1,30}\] ?)?[<[(]([\p{L}\p{N}_.-]{1,30})[>\])]\s)`,
  'u',
);

/** Returns the speaker that a line is labelled with, if any. */
export function speakerOf(line: string): string | undefined {
  const found = turnLabel.exec(line);
  return found?.[1] ?? found?.[2];
}

/** Matches a line of the header of a mail, whose name is no speaker's. */
export const mailHeader = /^[\s>]*(?:from|date|to|cc|sent|subject|reply-to):/i;

/** Returns whether several labels come again and again, on a fair share of the lines. */
function isDialogue(lines: readonly string[]): boolean {
  const labels = lines.flatMap((line) => (mailHeader.test(line) ? [] : (speakerOf(line) ?? [])));
  if (labels.length < 4 || labels.length / lines.length < 0.25) return false;
  return new Set(labels).size <= Math.max(2, labels.length / 3);
}
