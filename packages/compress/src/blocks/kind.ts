import { hasOutput, prompt, resultLines } from './results.ts';

/** Kind of a stretch of text, which decides what may be done to it. */
export type Kind =
  | 'instructions'
  | 'code'
  | 'mixed'
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

/**
 * Kinds that no lossless method changes. Cutting leaves them alone too, except for the prose of `mixed`, which is prose
 * and code in turn, and except for code where the caller allows that.
 */
export const frozenKinds: ReadonlySet<Kind> = new Set(['instructions', 'code', 'mixed', 'diff', 'schema']);

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
  if (isSession(lines) || sameCells(lines, ';')) return 'table';
  if (isCode(lines)) return 'code';
  if (isTable(lines)) return 'table';
  const logged = share(lines, logLine);
  if (logged >= 0.4 && share(lines, logLevel) >= 0.3) return 'log';
  if (isDialogue(lines)) return 'dialogue';
  return logged >= 0.4 ? 'log' : 'prose';
}

/** Lines that are not blank: all of them, or of a long text some from its beginning, middle and end. */
export function sampledLines(text: string): string[] {
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
export const lineNumber = /^\s*\d+(?:\t|→|[:|] ?)/;
const codeLine =
  /[{};]\s*$|^\s*(?:import|export|from \S+ import|def|class|function|async|const|let|var|return|if ?\(|for ?\(|while ?\(|else\b|elif\b|try:|except\b|package|func|fn|pub|use|impl|struct|enum|interface|type \w+ =|public|private|protected|static|#include|#define|#!\/|SELECT|INSERT|UPDATE|CREATE|ALTER|WITH|FROM|WHERE)\b.*[({:;=,)>\]]?\s*$|^\s*(?:\/\/|\/\*|\*\/|@\w+|<\/?\w[^>]*>)|^\s+[\w.[\]]+ ?[+-]?= ?\S|^\s*[\w.]+\(.*\)[;,]?\s*$|\)\s*(?:=>|->|:)\s*\S*$/;
/** Matches a line of a stack trace: a frame of any language, or where its file is. */
const frame =
  /^\s*(?:at \S.*(?:[)>]|:\d+)|File "[^"]*", line \d+.*|#\d+ +\S.*|\d+: +(?:0x[\da-f]+ - )?\S+|from \S+:\d+:in .*|(?:[A-Z]:)?[^\s:()]*[\\/][^\s:()]+:\d+(?: .*|:.*)?|goroutine \d+ \[.*|created by .*|Traceback \(.*|Caused by: .*|\.\.\. \d+ more)$/;
/** Matches a line that says how a test went. */
const outcome =
  /^\s*(?:[-=*]{2,} *)?(?:PASS(?:ED)?|FAIL(?:ED|URE|S)?|ERROR|SKIP(?:PED)?|XFAIL|XPASS|RUN|CONT|PAUSE|(?:not )?ok|test)\b|(?:\.\.\.? *|\s)(?:PASSED|FAILED|SKIPPED|passed|failed|skipped|ok|FAIL|ERROR)\b[^;{}]*$|^\s*[✓✔✗✘×●○]/u;
/** Matches a line that points at a place in the line of a program above it. */
const pointer = /^\s*\|?[\s~]*\^[\s^~]*$/;
/** Matches the first line of the header of a mail's part. */
const mimeHeader = /^(?:content-[\w-]+|mime-version|x-[\w-]+|received|return-path|message-id): ?\S/i;
const sentence = /^[A-Z"“][^;{}()=<>]*[a-z,]+ [^;{}()=<>]*[.!?…]["”)]?$/;

/** Returns whether there are at least three lines, and they look like code. */
export const isCode = (lines: readonly string[]): boolean => lines.length >= 3 && looksLikeCode(lines);

/** Returns whether most lines look like code and few like sentences, entries of a log, elements, settings or printed results. */
export function looksLikeCode(lines: readonly string[]): boolean {
  const bare = lines.map((line) => line.replace(lineNumber, '')).filter((line) => line.trim() !== '');
  // A line with an asterisk is an item of a list, unless a comment was opened.
  const commented = bare.some((line) => line.includes('/*')) ? share(bare, /^\s*\*(?: |$)/) : 0;
  if (bare.length === 0 || share(bare, codeLine) + commented < 0.5 || share(bare, sentence) >= 0.25)
    return false;
  if (share(bare, logLine) >= 0.3 || isMarkup(bare) || isIni(bare) || isMail(bare)) return false;
  // A program that a message quotes has few lines around the one that is pointed at.
  if (share(bare, pointer) >= 0.04) return false;
  if (share(bare, frame) + share(bare, outcome) >= 0.3 || mimeHeader.test(bare[0] ?? '')) return false;
  return resultLines(bare).filter((part) => part !== undefined).length < bare.length * 0.3;
}

/** Whether the lines are statements to a database with the results that its client printed. */
function isSession(lines: readonly string[]): boolean {
  if (hasOutput(lines) && share(lines, sentence) < 0.1) return true;
  const parts = resultLines(lines);
  const prompts = lines.filter((line) => prompt.test(line)).length;
  const results = parts.filter((part) => part !== undefined).length;
  if (results === 0 || results + prompts < lines.length * 0.5) return false;
  return prompts > 0 || parts.some((part) => part === 'record' || part === 'foot');
}

const element =
  /^\s*<[/!?]?[a-z][\w:.-]*(?:[\s/>]|$)|^\s*[\w:.-]+="[^"]*"(?:\s+[\w:.-]+="[^"]*")*\s*(?:\/?>)?\s*$/i;
/** Matches a line of a program that has elements in it. */
const script = /[;{]\s*$|=>|^\s*(?:import|export|const|let|var|function|return|class)\b|=\{/;
const page = /^\s*<(?:!doctype html|html|\?xml)\b/i;

/** Whether a page of XML or HTML begins, or most lines are elements, and hardly any is of a program. */
function isMarkup(lines: readonly string[]): boolean {
  const programmed = share(lines, script);
  if (page.test(lines[0] ?? '')) return programmed <= 0.3;
  return programmed <= 0.05 && share(lines, element) >= 0.5;
}

const section = /^\s*\[[^\]]+\]\s*$/;
const setting = /^\s*(?:[#;]|[\w.-]+ ?[+:]?= ?\S?[^;{(]*$|[\w.-]+$)/;

/** Whether the lines are settings under names in brackets. */
function isIni(lines: readonly string[]): boolean {
  const sections = share(lines, section);
  return sections > 0 && sections + share(lines, setting) >= 0.9;
}

const field =
  /^(?:received|return-path|delivered-to|from|to|date|subject|message-id|mime-version|content-type): ?\S/i;

/** Whether the lines begin with the header of a mail. */
function isMail(lines: readonly string[]): boolean {
  return (
    /^[A-Z][\w-]*: /.test(lines[0] ?? '') && lines.slice(0, 60).filter((line) => field.test(line)).length >= 4
  );
}

const entry = /^\s*(?:#|- \S|(?:- )?[\w./"'-]+:(?:\s+[^\s].*)?$)/;
const statement = /[;{,(]\s*$|^\s*(?:class|def|import|from|function|interface|struct|func|fn)\b/;

/** Whether the lines are keys with values as in YAML, perhaps with scripts as values. */
export function isYaml(lines: readonly string[]): boolean {
  return share(lines, entry) >= 0.5 && share(lines, statement) <= 0.1;
}

function isTable(lines: readonly string[]): boolean {
  if (lines.length < 4) return false;
  if (share(lines, /^\s*\|.*\|$/) >= 0.6) return true;
  return ['\t', ',', ';', '|'].some((separator) => sameCells(lines, separator));
}

/** Most lines of a row whose quoted cells hold line breaks. */
const MAX_ROW = 40;

/** For each row of separated values the number of its lines: a row goes on while a quotation mark is open. */
export function rowHeights(lines: readonly string[]): number[] {
  const heights: number[] = [];
  for (let at = 0; at < lines.length; ) {
    let open = false;
    let end = at;
    do if ((lines[end++]?.split('"').length ?? 1) % 2 === 0) open = !open;
    while (open && end < lines.length && end - at < MAX_ROW);
    heights.push(open ? 1 : end - at);
    at += heights.at(-1) ?? 1;
  }
  return heights;
}

function rowsOf(lines: readonly string[]): string[] {
  let at = 0;
  return rowHeights(lines).map((height) => lines.slice(at, (at += height)).join('\n'));
}

function sameCells(allLines: readonly string[], separator: string): boolean {
  const lines = rowsOf(allLines);
  if (lines.length < 3) return false;
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

/** Matches a name with its value in a column, as programs print them. */
const column = /^([^:]*): {3,}\S/;
/** Fewest names that make fields of such lines: the names of a few may be speakers. */
const MIN_FIELDS = 5;

/** Returns whether at least a tenth of the lines are fields (a name and its value), with several different names. */
function hasFields(lines: readonly string[]): boolean {
  const names = lines.flatMap((line) => column.exec(line)?.[1]?.trim() ?? []);
  return names.length / lines.length >= 0.1 && new Set(names).size >= MIN_FIELDS;
}

/** Returns whether several labels come again and again, on a fair share of the lines. */
function isDialogue(lines: readonly string[]): boolean {
  if (hasFields(lines)) return false;
  const labels = lines.flatMap((line) => (mailHeader.test(line) ? [] : (speakerOf(line) ?? [])));
  if (labels.length < 4 || labels.length / lines.length < 0.25) return false;
  return new Set(labels).size <= Math.max(2, labels.length / 3);
}
