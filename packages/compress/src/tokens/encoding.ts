import { tokenTable } from '#token-tables';
import { countMerged } from './byte-pairs.ts';
import type { SplitRules } from './split.ts';
import { Vocabulary } from './vocabulary.ts';

/** An encoding of OpenAI's. */
export type EncodingName = 'o200k_base' | 'cl100k_base';

/** Most words whose counts are remembered; `MEMO_LENGTH` is the longest such word, in UTF-16 units. */
const MEMO_WORDS = 50_000;
const MEMO_LENGTH = 48;
/** Longest piece, in bytes, that is found by its bytes as two numbers; `SHORT_PIECES` is how many of these are remembered. */
const SHORT_LENGTH = 8;
const SHORT_PIECES = 2 ** 13;

/**
 * A byte-pair encoding that only counts: the same number as tiktoken's `encode_ordinary(text).len()`, without making
 * the tokens. Text that looks like a special token is counted as text.
 */
export class Encoding {
  readonly name: EncodingName;
  readonly #rules: SplitRules;
  #vocabulary: Vocabulary | undefined;
  readonly #memo = new Map<string, number>();
  /** For each place, the first and the last four bytes of a short piece. */
  readonly #firstBytes = new Int32Array(SHORT_PIECES);
  readonly #lastBytes = new Int32Array(SHORT_PIECES);
  /** Length and number of tokens of those pieces: `length * 256 + tokens`, 0 if there is none. */
  readonly #shortCounts = new Int32Array(SHORT_PIECES);

  /** Its vocabulary is read when something is counted first. */
  constructor(name: EncodingName, rules: SplitRules) {
    this.name = name;
    this.#rules = rules;
  }

  /** Tokens in `text`; a lone surrogate counts as U+FFFD, which is what reaches a provider. */
  count(text: string): number {
    return this.countSpans(text, [text.length])[0] ?? 0;
  }

  /**
   * Tokens of `text` by the spans that end at `ends` (ascending UTF-16 units, the last one the length of the text): a
   * piece counts for the span in which it begins. The sum is the count of the whole text.
   */
  countSpans(text: string, ends: readonly number[]): number[] {
    this.#vocabulary ??= new Vocabulary(tokenTable(this.name));
    const vocabulary = this.#vocabulary;
    const bytes = new TextEncoder().encode(text);
    const counts: number[] = [];
    let tokens = 0;
    let unit = 0;
    for (let at = 0; at < bytes.length; ) {
      while (unit >= (ends[counts.length] ?? text.length)) {
        counts.push(tokens);
        tokens = 0;
      }
      const ascii = this.#rules.asciiEnd(bytes, at);
      const length = ascii < 0 ? this.#matchLength(text, unit) : ascii - at;
      const end = ascii < 0 ? at + utf8Length(text, unit, unit + length) : ascii;
      if (end - at <= SHORT_LENGTH) tokens += this.#short(vocabulary, bytes, at, end);
      else if (vocabulary.rank(bytes, at, end) >= 0) tokens++;
      else tokens += this.#merged(vocabulary, text.slice(unit, unit + length), bytes.subarray(at, end));
      unit += length;
      at = end;
    }
    while (counts.length < ends.length) {
      counts.push(tokens);
      tokens = 0;
    }
    return counts;
  }

  #matchLength(text: string, unit: number): number {
    const { pattern } = this.#rules;
    pattern.lastIndex = unit;
    pattern.test(text);
    return pattern.lastIndex - unit;
  }

  /** Tokens of a piece whose bytes fit into two numbers, by which its count is remembered. */
  #short(vocabulary: Vocabulary, bytes: Uint8Array, start: number, end: number): number {
    let first = 0;
    let last = 0;
    for (let at = start; at < end; at++) {
      last = (last << 8) | (bytes[at] ?? 0);
      if (at === start + 3) {
        first = last;
        last = 0;
      }
    }
    const mixed = Math.imul(first, 0x2c1b3c6d) ^ Math.imul(last ^ (last >>> 15), 0x297a2d39);
    const slot = (mixed >>> 17) & (SHORT_PIECES - 1);
    const known = this.#shortCounts[slot] ?? 0;
    if (this.#firstBytes[slot] === first && this.#lastBytes[slot] === last && known >> 8 === end - start)
      return known & 255;
    const tokens =
      vocabulary.rank(bytes, start, end) >= 0 ? 1 : countMerged(vocabulary, bytes.subarray(start, end));
    this.#firstBytes[slot] = first;
    this.#lastBytes[slot] = last;
    this.#shortCounts[slot] = ((end - start) << 8) | tokens;
    return tokens;
  }

  #merged(vocabulary: Vocabulary, word: string, bytes: Uint8Array): number {
    if (word.length > MEMO_LENGTH) return countMerged(vocabulary, bytes);
    const known = this.#memo.get(word);
    if (known !== undefined) return known;
    const tokens = countMerged(vocabulary, bytes);
    if (this.#memo.size >= MEMO_WORDS) this.#memo.clear();
    this.#memo.set(word, tokens);
    return tokens;
  }
}

function utf8Length(text: string, from: number, to: number): number {
  let bytes = 0;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code < 0xdc00 && isLow(text.charCodeAt(i + 1))) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000;
