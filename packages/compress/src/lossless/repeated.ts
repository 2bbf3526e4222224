import { isBareScalar } from '../json/cell.ts';
import { stringEnd } from '../json/minify.ts';
import { isSeparator, wordEnd } from './unquoted.ts';

/** Shortest text that is sought, in UTF-16 units. */
const MIN_LENGTH = 8;
/** Letters of a token, about. */
const WORD = 8;
/** Most texts that are returned. */
const MOST = 120;

/**
 * Texts that stand more than once in JSON or in the cells of its tables, those first with which most is saved: values, and what
 * strings begin with, up to a separator.
 */
export function repeatedTexts(text: string): string[] {
  const counts = new Map<string, number>();
  const strings: string[] = [];
  for (const piece of text.split(/[\n\t]/)) {
    const start = piece.search(/[{["]/);
    if (start >= 0) readJson(piece, start, counts, strings);
    else if (piece.length >= MIN_LENGTH) strings.push(piece);
  }
  countPrefixes(strings.sort(), counts);
  const found: { repeated: string; saved: number }[] = [];
  for (const [repeated, count] of counts) {
    const saved = count < 2 ? 0 : savedBy(repeated, count);
    if (saved > 0) found.push({ repeated, saved });
  }
  return found
    .sort((a, b) => b.saved - a.saved)
    .slice(0, MOST)
    .map(({ repeated }) => repeated);
}

/** Tokens, about, that an alias saves for a text in so many places: it costs two a place, and four to define. */
export const savedBy = (text: string, places: number): number =>
  (places - 1) * tokensAbout(text) - 2 * places - 4;

/** Tokens of a text, about, without counting them: words with the space before them, three digits, three signs. */
function tokensAbout(text: string): number {
  let tokens = 0;
  for (const { 0: piece } of text.matchAll(/[A-Za-z]+|\d+|[^\sA-Za-z\d]+/g)) {
    tokens += Math.ceil(piece.length / (/[A-Za-z]/.test(piece) ? WORD : 3));
  }
  return tokens;
}

function count(counts: Map<string, number>, text: string): void {
  counts.set(text, (counts.get(text) ?? 0) + 1);
}

/** Counts the values of JSON with or without quotation marks, but for lists of numbers, and adds the contents of its strings and its names. */
function readJson(json: string, start: number, counts: Map<string, number>, strings: string[]): void {
  const open: number[] = [];
  let lastString = start;
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === 34) {
      lastString = at;
      const end = stringEnd(json, at);
      if (end - at > MIN_LENGTH) {
        const lexeme = json.slice(at, end);
        count(counts, lexeme);
        if (!lexeme.includes('\\')) strings.push(lexeme.slice(1, -1));
      }
      at = end - 1;
    } else if (code === 91 || code === 123) open.push(at);
    else if (code === 93 || code === 125) {
      const from = open.pop() ?? at;
      if (from < lastString && at - from > MIN_LENGTH) count(counts, json.slice(from, at + 1));
    } else if (!isSeparator(code)) {
      const end = wordEnd(json, at);
      const word = json.slice(at, end);
      if (!isBareScalar(word)) {
        lastString = at;
        if (word.length >= MIN_LENGTH) strings.push(word);
      }
      at = end - 1;
    }
  }
}

/** Counts what neighbours in a sorted list begin with. */
function countPrefixes(sorted: readonly string[], counts: Map<string, number>): void {
  for (const [i, text] of sorted.entries()) {
    const before = sorted[i - 1] ?? '';
    let length = 0;
    while (length < before.length && before.charCodeAt(length) === text.charCodeAt(length)) length++;
    if (length < before.length) while (length > 0 && !endsPrefix(before.charCodeAt(--length)));
    if (length < MIN_LENGTH) continue;
    const prefix = before.slice(0, length);
    counts.set(prefix, (counts.get(prefix) ?? 1) + 1);
  }
}

const separators = new Set(Array.from('/:.?{#=_@ -', (separator) => separator.charCodeAt(0)));
const endsPrefix = (code: number): boolean => separators.has(code);
