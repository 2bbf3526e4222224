import { counterOf } from '../tokens.ts';

/** Text as the tokens of o200k. A special token in a caller's text counts as plain text. */
export interface Tokenizer {
  count(text: string): number;
  /** The longest beginning of whole characters with at most `limit` tokens. */
  cut(text: string, limit: number): string;
}

export async function loadTokenizer(): Promise<Tokenizer> {
  const count = await counterOf('o200k');
  return { count, cut: (text, limit) => longestWithin(text, (beginning) => count(beginning) <= limit) };
}

/**
 * Found by trying. Decoding the first tokens would not do: the library's decoder keeps the bytes of an incomplete
 * character for the text that it decodes next.
 */
function longestWithin(text: string, fits: (beginning: string) => boolean): string {
  let fitting = 0;
  let tried = 64;
  while (tried < text.length && fits(beginningOf(text, tried))) {
    fitting = tried;
    tried *= 2;
  }
  if (tried >= text.length && fits(text)) return text;
  let failing = Math.min(tried, text.length);
  while (failing - fitting > 1) {
    const middle = (fitting + failing) >> 1;
    if (fits(beginningOf(text, middle))) fitting = middle;
    else failing = middle;
  }
  return beginningOf(text, fitting);
}

/** A beginning of whole characters. */
function beginningOf(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
