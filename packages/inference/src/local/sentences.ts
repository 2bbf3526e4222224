import { isLowerCase, isSpace } from './characters.ts';

/** A sentence, list item, row or piece of code: the characters `start` to `end` (half-open) of its text. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly code: boolean;
}

/** Longer sentences are cut where a clause or a word ends. */
const maxLength = 1_000;
const maxCodeLines = 12;
/** A shorter line was not wrapped. */
const minWrapped = 45;

const fence = /^\s*(?:```|~~~)/;
const beginsAnew = /^\s*(?:[-*+•|>#{["'\d]|\p{Lu}[\p{L} ]{0,30}:|\p{L}[.)]\s)/u;
const standsAlone = /^\s*(?:#|\||>|---)/;
const ended = /[.!?:;|。！？…]["'”’)\]]*\s*$/;

const abbreviations = new Set(
  `mr mrs ms dr prof st sr jr vs etc eg ie cf al inc ltd co corp dept fig figs eq ref refs no nos vol pp ed eds approx
  ca est min tel ext gen col sgt capt lt rev hon gov sen rep jan feb mar apr jun jul aug sep sept oct nov dec mon tue
  wed thu fri bzw usw ggf nr str sog inkl evtl hr fr sra dra srta mme mlle av pag núm tél op cit`.split(
    /\s+/,
  ),
);

/** The sentences of a text, in order, without the blanks around them. */
export function splitSentences(text: string): Span[] {
  const spans: Span[] = [];
  for (const { start, end, code } of blocksOf(text)) {
    if (code) push(spans, text, start, end, true);
    else splitProse(text, start, end, spans);
  }
  return spans;
}

/** Code between fences, and lines of prose that belong together. */
function blocksOf(text: string): Span[] {
  const blocks: Span[] = [];
  let start = -1;
  let codeLines = -1;
  let at = 0;
  const close = (end: number, code: boolean): void => {
    if (start >= 0 && start < end) blocks.push({ start, end, code });
    start = -1;
  };
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, next);
    if (fence.test(line)) {
      close(at, codeLines >= 0);
      codeLines = codeLines >= 0 ? -1 : 0;
    } else if (codeLines >= 0) {
      if (start < 0) start = at;
      codeLines += 1;
      if (codeLines % maxCodeLines === 0) close(next, true);
    } else if (line.trim() === '') {
      close(at, false);
    } else {
      if (start < 0) start = at;
      if (!isWrapped(line, text, next)) close(next, false);
    }
    at = next;
  }
  close(text.length, codeLines >= 0);
  return blocks;
}

/** Whether a line of prose continues in the next. */
function isWrapped(line: string, text: string, next: number): boolean {
  if (line.length < minWrapped || standsAlone.test(line) || ended.test(line)) return false;
  return !beginsAnew.test(text.slice(next, next + 40));
}

function splitProse(text: string, from: number, to: number, spans: Span[]): void {
  let start = from;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (!isTerminator(code)) continue;
    const end = afterClosers(text, at + 1, to);
    if (isFullWidth(code) || endsSentence(text, start, at, end, to)) {
      push(spans, text, start, end, false);
      start = end;
      while (start < to && isSpace(text.charCodeAt(start))) start++;
      at = start - 1;
    }
  }
  push(spans, text, start, to, false);
}

function endsSentence(text: string, start: number, at: number, end: number, to: number): boolean {
  if (end >= to) return true;
  if (!isSpace(text.charCodeAt(end))) return false;
  let next = end;
  while (next < to && isSpace(text.charCodeAt(next))) next++;
  const follower = text[next] ?? '';
  if (isLowerCase(follower) && follower !== '') return false;
  return text[at] !== '.' || end > at + 1 || !isAbbreviation(text, start, at, follower);
}

/** Whether the full stop at `at` ends an abbreviation, not a sentence. */
function isAbbreviation(text: string, start: number, at: number, follower: string): boolean {
  let begin = at;
  while (begin > start && !isSpace(text.charCodeAt(begin - 1)) && text[begin - 1] !== '(') begin--;
  const word = text.slice(begin, at);
  // A leading number belongs to a list item, which follows.
  if (/^\d{1,2}$/.test(word)) return begin === start;
  if (/^\p{L}$/u.test(word)) return word !== 'I';
  if (/^[ap]\.m$/i.test(word)) return false;
  if (/^(?:\p{L}\.)+\p{L}$/u.test(word))
    return word.length < 5 || begin === start || !/^\p{Lu}/u.test(follower);
  return abbreviations.has(word.toLowerCase());
}

/** `.`, `!`, `?`, `…` and their full-width forms. */
function isTerminator(code: number): boolean {
  return code === 46 || code === 33 || code === 63 || code === 0x2026 || isFullWidth(code);
}

function isFullWidth(code: number): boolean {
  return code === 0x3002 || code === 0xff01 || code === 0xff1f || code === 0xff61;
}

const closers = new Set(Array.from('.!?…。！？"\'”’»)]」』）】*_', (character) => character.charCodeAt(0)));

function afterClosers(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && closers.has(text.charCodeAt(at))) at++;
  return at;
}

function push(spans: Span[], text: string, from: number, to: number, code: boolean): void {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  while (end - start > maxLength) {
    const cut = cutBefore(text, start, start + maxLength);
    spans.push({ start, end: cut, code });
    start = cut;
    while (start < end && isSpace(text.charCodeAt(start))) start++;
  }
  if (start < end) spans.push({ start, end, code });
}

/** A place to cut that does not split a surrogate pair. */
function cutBefore(text: string, start: number, limit: number): number {
  for (const mark of [';', ',', ' ', '\n', '、', '，']) {
    const at = text.lastIndexOf(mark, limit - 1);
    if (at > start + maxLength / 2) return at + 1;
  }
  const before = text.charCodeAt(limit - 1);
  return before >= 0xd800 && before < 0xdc00 ? limit - 1 : limit;
}
