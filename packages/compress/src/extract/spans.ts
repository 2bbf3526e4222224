/** A part of a text that is kept or cut as a whole: a turn, a sentence, a row, a line. `[start, end)` of the segment's text. */
export interface Unit {
  readonly start: number;
  readonly end: number;
  /** Whether it is a heading, which says what the units after it belong to, and is kept with them. */
  readonly heading: boolean;
  /** Offset at which the unit begins that this one stands under: a heading, a key, a row that names columns. */
  readonly under?: number | undefined;
  /** Whether it is always kept: rows that name columns, and others that the rest can't be read without. */
  readonly fixed: boolean;
  /** Of code, the name of the function that it is, or nothing. Such a unit is cut further between paragraphs only. */
  readonly code?: string;
}

/** Longest unit, in UTF-16 units: a document may be one line of a megabyte. */
export const MAX_UNIT = 1200;
export interface Span {
  readonly start: number;
  readonly end: number;
}

export const plain = (span: Span): Unit => ({ ...span, heading: false, fixed: false });

/** The lines of a text, with their line ends. */
export function lineSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline + 1;
    spans.push({ start, end });
    start = end;
  }
  return spans;
}

const sentenceEnd =
  /(?:[.!?…]["'”’)\]]*\s+(?=["'“‘([*\p{Lu}\p{N}\p{Lo}])|[。！？]["”」』）]*\s*|\n(?=[ \t]*(?:[-*•]|\d+[.)])[ \t]))/gu;
const abbreviation =
  /(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|Inc|Ltd|Co|Fig|Art|Sec|approx|cf)\.)\s*$|(?:^|\n)\s*\d{1,3}[.)]\s*$/;

export function sentenceSpans(text: string, start: number, end: number): Span[] {
  const spans: Span[] = [];
  let from = start;
  for (const match of text.slice(start, end).matchAll(sentenceEnd)) {
    const at = start + match.index + match[0].length;
    if (at >= end || abbreviation.test(text.slice(Math.max(from, at - 12), at))) continue;
    spans.push({ start: from, end: at });
    from = at;
  }
  spans.push({ start: from, end });
  return spans;
}

/** The last place in `(least, most]` that splits no character, after a blank if there is one. */
export function safeCut(text: string, least: number, most: number): number {
  for (let at = most; at > least; at--) if (/\s/.test(text.charAt(at - 1)) && splits(text, at)) return at;
  for (let at = most; at > least; at--) if (splits(text, at)) return at;
  return isLowSurrogate(text, most) ? most - 1 : most;
}

const joinsBackwards = /^(?:\p{M}|\u{200d}|\p{Variation_Selector}|\p{Emoji_Modifier}|[\u{e0020}-\u{e007f}])/u;
const regional = /^[\u{1f1e6}-\u{1f1ff}]/u;

/** Viramas, which join the consonants on both sides (UAX 29, GB9c). */
const conjoining = /[\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d]/;

/** Returns whether two user-perceived characters meet at `at` (UAX 29, the cases that emoji and accents need). */
function splits(text: string, at: number): boolean {
  if (isLowSurrogate(text, at) || text.charCodeAt(at - 1) === 0x200d) return false;
  if (conjoining.test(text.charAt(at - 1))) return false;
  const next = text.slice(at, at + 2);
  return !joinsBackwards.test(next) && !regional.test(next);
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code < 0xe000;
}
