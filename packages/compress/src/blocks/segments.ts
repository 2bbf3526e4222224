import { stringEnd } from '../json/minify.ts';
import { isJson } from '../json/tree.ts';
import { isCode, isYaml, type Kind, kindOfPlain, looksLikeCode, sampledLines } from './kind.ts';
import { hasOutput, hasResults, isStatement } from './results.ts';

/** A stretch of a text, `[start, end)` in UTF-16 units. The segments of a text cover it without overlap. */
export interface Segment {
  readonly kind: Kind;
  readonly start: number;
  readonly end: number;
}

/** JSON inside other text that is shorter than this stays part of it. */
const MIN_EMBEDDED_JSON = 80;
/** Most failed attempts to read JSON before the rest of a text counts as plain: each may read the whole text. */
const MAX_FAILED_JSON = 8;
/** Shortest stretch between code, in lines, that gets a kind of its own. */
const MIN_CODE_LINES = 3;

/** Cuts a text into fenced code, JSON, code without a fence, and the rest by its kind. */
export function segmentsOf(text: string): Segment[] {
  const whole = wholeJson(text);
  if (whole !== undefined) return whole;
  const segments: Segment[] = [];
  let from = 0;
  for (const found of fixedStretches(text)) {
    if (found.start > from) segments.push(...plainSegments(text, from, found.start));
    segments.push(found);
    from = found.end;
  }
  if (from < text.length) segments.push(...plainSegments(text, from, text.length));
  return segments;
}

function wholeJson(text: string): Segment[] | undefined {
  const start = text.search(/\S/);
  const first = text.charAt(start);
  if (first !== '{' && first !== '[') return undefined;
  const end = text.trimEnd().length;
  const json = text.slice(start, end);
  if (isJsonLines(json)) return [{ kind: 'jsonl', start: 0, end: text.length }];
  return isJson(json) ? [{ kind: kindOfJson(json), start: 0, end: text.length }] : undefined;
}

const objectLine = /^\s*\{.*\}\s*$/;

function isJsonLines(text: string): boolean {
  if (!objectLine.test(text.slice(0, Math.max(0, text.indexOf('\n'))))) return false;
  const lines = text.split('\n');
  return lines.length > 2 && lines.every((line) => objectLine.test(line)) && lines.every(isJson);
}

/** Members that only schemas have, which are looked for before the text is parsed. */
const schematic =
  /"(?:\$(?:schema|ref|defs)|openapi|swagger|properties|parameters|input_schema|inputSchema)"\s*:/;

/** The kind of a JSON text: JSON Schemas, OpenAPI documents and tool definitions are known by the members at their top. */
function kindOfJson(json: string): Kind {
  if (!schematic.test(json)) return 'json';
  const value = JSON.parse(json) as unknown;
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.length > 0 && items.every(isSchema) ? 'schema' : 'json';
}

function isSchema(value: unknown): boolean {
  const own = objectOf(value);
  if (own === undefined) return false;
  if (
    ['$schema', '$ref', '$defs', 'openapi', 'swagger'].some(
      (name) => typeof own[name] === 'string' || objectOf(own[name]),
    )
  )
    return true;
  const definitions = [
    own,
    own['parameters'],
    own['input_schema'],
    own['inputSchema'],
    objectOf(own['function'])?.['parameters'],
  ];
  return definitions.some((one) => {
    const schema = objectOf(one);
    return schema?.['type'] === 'object' && objectOf(schema['properties']) !== undefined;
  });
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

const opening = /^(?: {0,3}(`{3,}|~{3,})[^\n`]*$|[{[])/gm;

/** The fenced code and the embedded JSON of a text, in order. */
function fixedStretches(text: string): Segment[] {
  const found: Segment[] = [];
  let failed = 0;
  opening.lastIndex = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const fence = match[1];
    const start = match.index;
    if (fence !== undefined) {
      if (isUnderline(text, start, match[0])) continue;
      const end = fenceEnd(text, opening.lastIndex, fence);
      if (isFencedCode(text.slice(start, end))) found.push({ kind: 'code', start, end });
      opening.lastIndex = end;
    } else {
      const end = failed < MAX_FAILED_JSON ? jsonEnd(text, start) : start;
      if (end === start) failed++;
      else found.push({ kind: kindOfJson(text.slice(start, end)), start, end });
    }
    opening.lastIndex = Math.max(found.at(-1)?.end ?? 0, opening.lastIndex);
  }
  return found;
}

/** The JSON that stands in other text, on lines of its own. */
export function embeddedJson(text: string): Segment[] {
  return fixedStretches(text).filter(({ kind }) => kind !== 'code');
}

/** Whether a line of tildes underlines the title before it, as in reStructuredText. */
function isUnderline(text: string, start: number, line: string): boolean {
  const title = text.slice(text.lastIndexOf('\n', start - 2) + 1, Math.max(0, start - 1)).trim();
  return /^~+\s*$/.test(line) && title !== '' && title !== line.trim() && line.trim().length >= title.length;
}

/** Languages of fences that hold a program only if it looks like one: what was typed or printed on a terminal, or nothing said. */
const unsaid =
  /^(?:te?xt|plain|plaintext|output|logs?|sh|bash|zsh|shell|console|terminal|shell-session|shellsession|pycon|pytb|traceback|stacktrace|tap|http|none|e?mail|csv|tsv|psql|mysql|sqlite)?$/i;
/** Languages of fences that hold data, which are cut as data without a fence are. */
const data = /^(?:ya?ml|toml|ini|cfg|conf|properties|env|dotenv)$/i;
/** Longest fence of commands, in UTF-16 units, that is a passage like others. */
const MAX_COMMANDS = 240;
const typed = /^\s*(?:[\w@~:/.-]* ?[$%❯]|>>>) \S/;
const scripted = /^\s*(?:if|for|while|until|case|do|done|then|fi|esac|function|[\w-]+ ?\(\))(?:\s|$)/;

/** Whether a fence holds a program, going by its language, else by what it looks like. */
function isFencedCode(fenced: string): boolean {
  const [first = '', ...lines] = fenced.split('\n');
  const language = first.replace(/^[\s`~]+/, '').split(/[\s{:,]/, 1)[0] ?? '';
  if (data.test(language)) return false;
  if (!unsaid.test(language)) return !(/sql/i.test(language) && (hasResults(fenced) || hasOutput(lines)));
  // Below a prompt stands what was printed.
  const shell = /sh$|shell/i.test(language) && !lines.some((line) => typed.test(line));
  if (shell && (fenced.length > MAX_COMMANDS || lines.some((line) => scripted.test(line)))) return true;
  const content = lines.filter((line) => line.trim() !== '' && !/^\s*[`~]{3,}\s*$/.test(line));
  const kind = kindOfPlain(content.join('\n'));
  return kind === 'diff' || /^\s*[{[]/.test(content[0] ?? '') || looksLikeCode(content);
}

/** Offset after the line that closes a fence, or the end of the text. */
function fenceEnd(text: string, from: number, fence: string): number {
  const closing = new RegExp(`^ {0,3}${fence}${fence.charAt(0)}*[ \\t]*$`, 'gm');
  closing.lastIndex = from;
  const match = closing.exec(text);
  return match === null ? text.length : match.index + match[0].length;
}

/** Returns where the JSON that opens at `start` ends, if it is valid, long enough and ends its line; else `start`. */
function jsonEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at) - 1;
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) {
      const end = at + 1;
      const closes = end - start >= MIN_EMBEDDED_JSON && /^[ \t\r]*(?:\n|$)/.test(text.slice(end, end + 200));
      return closes && isJson(text.slice(start, end)) ? end : start;
    }
  }
  return start;
}

/** Cuts a plain stretch into segments: code without a fence, paragraph by paragraph, and the rest with one kind each. */
function plainSegments(text: string, start: number, end: number): Segment[] {
  const kind = kindOfPlain(text.slice(start, end));
  if (kind !== 'prose' || isYaml(sampledLines(text.slice(start, end)))) return [{ kind, start, end }];
  const segments: Segment[] = [];
  // Statements whose results are printed are part of a session, which is read by its results.
  const printed = hasResults(text.slice(start, end));
  for (const paragraph of paragraphsOf(text, start, end)) {
    const whole = text.slice(paragraph.start, paragraph.end);
    const lines = whole.split('\n').filter((line) => line.trim() !== '');
    const own =
      lines.length >= MIN_CODE_LINES && isCode(lines) && !(printed && isStatement(whole)) ? 'code' : 'prose';
    const last = segments.at(-1);
    if (last?.kind === own)
      segments[segments.length - 1] = { kind: own, start: last.start, end: paragraph.end };
    else segments.push({ kind: own, ...paragraph });
  }
  return segments;
}

/** Stretches of `[start, end)` that end behind blank lines, or before a form feed, which begins a page. */
export function paragraphsOf(text: string, start: number, end: number): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let from = start;
  for (const match of text.slice(start, end).matchAll(/\n[ \t\r]*\n[^\S\f]*|(?=\f)/g)) {
    // Indentation after the blank line belongs to the next paragraph.
    const at = start + match.index + match[0].lastIndexOf('\n') + 1;
    if (at > from) found.push({ start: from, end: at });
    from = at;
  }
  if (from < end) found.push({ start: from, end });
  return found;
}
