/** Rules by which an encoding cuts text into the pieces that are merged on their own. */
export interface SplitRules {
  /** Sticky and Unicode-aware pattern: it is used wherever a character outside ASCII takes part. */
  readonly pattern: RegExp;
  /** Offset at which the piece of ASCII bytes that begins at `at` ends, or -1 if a byte outside ASCII takes part. */
  readonly asciiEnd: (bytes: Uint8Array, at: number) => number;
}

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const BLANK = 4;
const NEWLINE = 5;
const BEYOND = 6;

const SLASH = 47;
const NOTHING = -1;

const classes = new Uint8Array(257);
for (let c = 0; c < 257; c++) classes[c] = classOf(c);

/** The class of a byte; past the end it is `OTHER`, which like punctuation belongs to no run. */
function classOf(c: number): number {
  if (c >= 128) return c === 256 ? OTHER : BEYOND;
  if (c >= 97 && c <= 122) return LOWER;
  if (c >= 65 && c <= 90) return UPPER;
  if (c >= 48 && c <= 57) return DIGIT;
  if (c === 10 || c === 13) return NEWLINE;
  return c === 32 || (c >= 9 && c <= 12) ? BLANK : OTHER;
}

const kind = (bytes: Uint8Array, at: number): number => classes[bytes[at] ?? 256] ?? OTHER;

const CONTRACTION = String.raw`'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE])`;

/** The rules of `o200k_base`. */
export const o200kRules: SplitRules = {
  pattern: new RegExp(
    String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:${CONTRACTION})?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:${CONTRACTION})?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
    'uy',
  ),
  asciiEnd(bytes, at) {
    const first = kind(bytes, at);
    const second = kind(bytes, at + 1);
    if (first === LOWER || first === UPPER) return caseWordEnd(bytes, at);
    if (first === DIGIT) return digitsEnd(bytes, at);
    if (first === BEYOND || second === BEYOND) return -1;
    if (first !== NEWLINE && (second === LOWER || second === UPPER)) return caseWordEnd(bytes, at + 1);
    if (first === OTHER) return punctuationEnd(bytes, at, SLASH);
    if (bytes[at] === 32 && second === OTHER && at + 1 < bytes.length)
      return punctuationEnd(bytes, at + 1, SLASH);
    return whitespaceEnd(bytes, at, false);
  },
};

/** The rules of `cl100k_base`. */
export const cl100kRules: SplitRules = {
  pattern: new RegExp(
    String.raw`${CONTRACTION}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s`,
    'uy',
  ),
  asciiEnd(bytes, at) {
    const first = kind(bytes, at);
    const second = kind(bytes, at + 1);
    if (first === LOWER || first === UPPER) return wordEnd(bytes, at);
    if (first === DIGIT) return digitsEnd(bytes, at);
    if (first === BEYOND || second === BEYOND) return -1;
    const contraction = contractionEnd(bytes, at);
    if (contraction > at) return contraction;
    if (first !== NEWLINE && (second === LOWER || second === UPPER)) return wordEnd(bytes, at + 1);
    if (first === OTHER) return punctuationEnd(bytes, at, NOTHING);
    if (bytes[at] === 32 && second === OTHER && at + 1 < bytes.length)
      return punctuationEnd(bytes, at + 1, NOTHING);
    return whitespaceEnd(bytes, at, true);
  },
};

/** End of a word that matches `[A-Z]*[a-z]+` or `[A-Z]+[a-z]*`, with a contraction after it. */
function caseWordEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (kind(bytes, at) === UPPER) at++;
  while (kind(bytes, at) === LOWER) at++;
  return kind(bytes, at) === BEYOND ? -1 : contractionEnd(bytes, at);
}

function wordEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (kind(bytes, at) === LOWER || kind(bytes, at) === UPPER) at++;
  return kind(bytes, at) === BEYOND ? -1 : at;
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  while (at < from + 3 && kind(bytes, at) === DIGIT) at++;
  return at < from + 3 && kind(bytes, at) === BEYOND ? -1 : at;
}

/** End of a run of punctuation; the line ends after it, and bytes `also`, belong to it. */
function punctuationEnd(bytes: Uint8Array, from: number, also: number): number {
  let at = from;
  while (at < bytes.length && kind(bytes, at) === OTHER) at++;
  if (kind(bytes, at) === BEYOND) return -1;
  while (kind(bytes, at) === NEWLINE || bytes[at] === also) at++;
  return at;
}

/** End of a run of whitespace: after its last newline; else before its last blank, which belongs to what follows. */
function whitespaceEnd(bytes: Uint8Array, from: number, wholeAtEnd: boolean): number {
  let end = from;
  let newline = -1;
  for (; kind(bytes, end) === BLANK || kind(bytes, end) === NEWLINE; end++)
    if (kind(bytes, end) === NEWLINE) newline = end;
  if (kind(bytes, end) === BEYOND) return -1;
  if (wholeAtEnd && end === bytes.length) return end;
  if (newline >= 0) return newline + 1;
  return end === bytes.length || end === from + 1 ? end : end - 1;
}

/** Offset after `'s`, `'ll` and the like if one begins at `at`; else `at`. */
function contractionEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== 39) return at;
  const first = (bytes[at + 1] ?? 0) | 32;
  if (first === 115 || first === 100 || first === 109 || first === 116)
    return isLetter(bytes, at + 1) ? at + 2 : at;
  const second = (bytes[at + 2] ?? 0) | 32;
  const pair = (first === 108 && second === 108) || ((first === 118 || first === 114) && second === 101);
  return pair && isLetter(bytes, at + 1) && isLetter(bytes, at + 2) ? at + 3 : at;
}

/** Returns whether a byte is an ASCII letter. `| 32` also maps a few other bytes onto letters. */
function isLetter(bytes: Uint8Array, at: number): boolean {
  const found = kind(bytes, at);
  return found === LOWER || found === UPPER;
}
