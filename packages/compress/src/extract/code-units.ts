import { lineNumber } from '../blocks/kind.ts';
import { lineSpans, type Span, type Unit } from './spans.ts';

/** Longest type and longest function, in UTF-16 units, that are one unit; longer ones are cut by what they declare. */
const MAX_TYPE = 800;
const MAX_FUNCTION = 2400;
const MAX_NAME = 60;

interface Line extends Span {
  readonly content: string;
  readonly indent: number;
  /** Number of brackets that are open at its beginning; infinite within a string or a comment. */
  readonly depth: number;
}

/**
 * The units of code: whole functions with the comments above them, the members of long types and functions, and what
 * stands between.
 * A function reaches to the next line that is neither indented nor bracketed deeper than its first.
 */
export function codeUnits(text: string): Unit[] {
  const lines = linesOf(text);
  const units: Unit[] = [];
  addUnits({ lines, units }, 0, lines.length, undefined);
  return units;
}

interface Search {
  readonly lines: readonly Line[];
  readonly units: Unit[];
}

function addUnits({ lines, units }: Search, from: number, to: number, under: number | undefined): void {
  const spanOf = (first: number, end: number): Span => ({
    start: lines[first]?.start ?? 0,
    end: lines[end - 1]?.end ?? 0,
  });
  const add = (first: number, end: number, code: string): void => {
    if (end > first) units.push({ ...spanOf(first, end), heading: false, fixed: false, under, code });
  };
  let done = from;
  for (let at = from; at < to; ) {
    const line = lines[at];
    const found = line === undefined ? undefined : declarationOf(line);
    if (found === undefined) {
      const blank = line?.content.trim() === '' && line.depth !== Number.POSITIVE_INFINITY;
      at++;
      if (blank && lines[at]?.content.trim() !== '') {
        add(done, at, '');
        done = at;
      }
      continue;
    }
    const first = leadOf(lines, done, at);
    const end = endOf(lines, at, to);
    add(done, first, '');
    const { start, end: last } = spanOf(first, end);
    const inner =
      last - start > (found.type ? MAX_TYPE : MAX_FUNCTION)
        ? lines.findIndex((one, i) => i > at && i < end && declarationOf(one) !== undefined)
        : -1;
    if (inner < 0) add(first, end, found.name);
    else {
      const body = leadOf(lines, at + 1, inner);
      add(first, body, '');
      addUnits({ lines, units }, body, end, start);
    }
    at = end;
    done = end;
  }
  add(done, to, '');
}

/** The line from which comments and decorators lead up to a declaration. */
function leadOf(lines: readonly Line[], from: number, at: number): number {
  let first = at;
  while (first > from && leading.test(lines[first - 1]?.content ?? '')) first--;
  return first;
}

const leading = /^\s*(?:\/\/|\/?\*|#(?!include|define|if|end)|--\s|@\w|\[\w.*\]\s*$|""")/;
const closing = /^\s*(?:[{}\])]|end\b|else\b|(?:catch|except|finally|rescue|ensure|elif)\b|$)/;

function endOf(lines: readonly Line[], at: number, to: number): number {
  const { indent = 0, depth = 0 } = lines[at] ?? {};
  let end = at + 1;
  for (let next = end; next < to; next++) {
    const line = lines[next];
    if (line === undefined) break;
    const deeper = line.depth > depth || (line.indent > indent && line.content.trim() !== '');
    if (!deeper && !closing.test(line.content)) break;
    if (deeper || line.content.trim() !== '') end = next + 1;
  }
  while (end < to && lines[end]?.content.trim() === '') end++;
  return end;
}

interface Declaration {
  readonly name: string;
  /** Whether it has members of its own. */
  readonly type: boolean;
}

const modifiers = String.raw`(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|override|virtual|inline|extern|unsafe|sealed|open|suspend|data|local|pub(?:\([^)]*\))?)\s+)*`;
const types = 'class|interface|struct|enum|trait|impl|protocol|module|namespace|object|record|union';
const declared = new RegExp(
  String.raw`^\s*${modifiers}(?:(?:${types})|function\*?|def|fn|func|fun|sub|proc|macro_rules!)(?:\s*<[^>]*>)?\s+(?:\([^)]*\)\s*)?([\w$][\w$.]*(?:::[\w$]+)*)`,
);
const isType = new RegExp(String.raw`^\s*${modifiers}(?:${types})\b`);
const assigned = new RegExp(
  String.raw`^\s*${modifiers}(?:(?:const|let|var)\s+)?([\w$.]+)(?:\s*:[^=]+)?\s*=\s*(?:async\s*)?(?:function\b|\([^()]*\)(?:\s*:[^=]+)?\s*=>|[\w$]+\s*=>)`,
);
const method =
  /^\s*(?:[\w$<>[\],.*&:?~]+\s+)*?[*&]*(?!(?:if|for|while|switch|catch|return|else|with|do|try|new|await|throw|using|lock|match|when|until|unless)\b)([\w$~:]+)\s*\([^;{}]*\)[^;{}=()]*\{?\s*$/;
const statement =
  /^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:table|function|procedure|view|trigger|type)\s+(?:if\s+not\s+exists\s+)?([\w."`]+)/i;

/** What a line begins to declare. A line that ends without a brace declares a function of C only where a type stands before the name. */
function declarationOf({ content, depth }: Line): Declaration | undefined {
  if (depth === Number.POSITIVE_INFINITY || content.length > 400) return undefined;
  const opens = /\{\s*$/.test(content) || /^[\w*&]+\s+[\w*&: ]*\(.*\)\s*$/.test(content);
  const found =
    declared.exec(content) ??
    assigned.exec(content) ??
    statement.exec(content) ??
    (opens ? method.exec(content) : null);
  const name = found?.[1]?.slice(0, MAX_NAME);
  return name === undefined ? undefined : { name, type: isType.test(content) };
}

/** The lines of code. Where brackets do not match, indentation alone counts. */
function linesOf(text: string): Line[] {
  const spans = lineSpans(text);
  const depths = depthsOf(text, spans);
  return spans.map(({ start, end }, i) => {
    const content = text.slice(start, end).replace(lineNumber, '');
    const indent = (/^[ \t]*/.exec(content)?.[0] ?? '').replaceAll('\t', '    ').length;
    return { start, end, content, indent, depth: depths[i] ?? 0 };
  });
}

const token =
  /\/\/[^\n]*|\/\*|\*\/|(?:^|\s)#[^\n]*|"""|'''|`|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[{}()[\]]|\n/g;
const closers: Readonly<Record<string, string>> = { '/*': '*/', '"""': '"""', "'''": "'''", '`': '`' };

function depthsOf(text: string, spans: readonly Span[]): number[] {
  const depths = [0];
  let depth = 0;
  let least = 0;
  let within: string | undefined;
  for (const [found] of text.matchAll(token)) {
    if (found.includes('\n')) depths.push(within === undefined ? depth : Number.POSITIVE_INFINITY);
    else if (within !== undefined) within = found === within ? undefined : within;
    else if (closers[found] !== undefined) within = closers[found];
    else if ('{(['.includes(found)) depth++;
    else if ('})]'.includes(found)) depth--;
    least = Math.min(least, depth);
  }
  return depth === 0 && least === 0 && within === undefined ? depths : spans.map(() => 0);
}
