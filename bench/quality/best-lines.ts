import type { Material } from './baselines.ts';

/** Runs of letters and digits in lower case; where words stand without blanks, pairs of characters. */
const WORD = /(?=([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2}))|[\p{L}\p{N}]+/gu;

/** What a word is compared by: itself, or its stem. */
export type Stem = (word: string) => string;

const asWritten: Stem = (word) => word;

function wordsOf(text: string, stem: Stem): string[] {
  return [...text.toLowerCase().matchAll(WORD)].map(([word, pair]) => pair ?? stem(word));
}

interface Index {
  /** For each word the lines that hold it, and how often. */
  readonly postings: ReadonlyMap<string, ReadonlyMap<number, number>>;
  readonly lengths: readonly number[];
  readonly mean: number;
}

const indexes = new WeakMap<Material, Map<Stem, Index>>();

function indexOf(material: Material, stem: Stem): Index {
  const own = indexes.get(material) ?? new Map<Stem, Index>();
  indexes.set(material, own);
  const known = own.get(stem);
  if (known !== undefined) return known;
  const postings = new Map<string, Map<number, number>>();
  const lengths = material.lines.map((line, i) => {
    const words = wordsOf(line, stem);
    for (const word of words) {
      const lines = postings.get(word) ?? new Map<number, number>();
      lines.set(i, (lines.get(i) ?? 0) + 1);
      postings.set(word, lines);
    }
    return words.length;
  });
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const index = { postings, lengths, mean };
  own.set(stem, index);
  return index;
}

const K1 = 1.5;
const B = 0.75;

/**
 * The baseline as anyone would write it: the lines that Okapi BM25 finds best (Robertson and Zaragoza 2009), each with half of the
 * scores of its neighbours, without protections or marks.
 * @param room number of tokens for the lines
 */
export function bestLines(
  material: Material,
  room: number,
  question: string,
  stem: Stem = asWritten,
): { text: string; tokens: number } {
  const { postings, lengths, mean } = indexOf(material, stem);
  const { lines, counts } = material;
  const raw = new Float64Array(lines.length);
  for (const word of new Set(wordsOf(question, stem))) {
    const holding = postings.get(word) ?? new Map<number, number>();
    const idf = Math.log(1 + (lines.length - holding.size + 0.5) / (holding.size + 0.5));
    for (const [i, count] of holding) {
      const length = 1 - B + (B * (lengths[i] ?? 0)) / mean;
      raw[i] = (raw[i] ?? 0) + (idf * count * (K1 + 1)) / (count + K1 * length);
    }
  }
  const scores = raw.map((score, i) => score + ((raw[i - 1] ?? 0) + (raw[i + 1] ?? 0)) / 2);
  const order = lines.map((_, i) => i).toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const chosen = new Uint8Array(lines.length);
  let tokens = 0;
  for (const i of order) {
    const cost = counts[i] ?? 0;
    if (tokens + cost > room) continue;
    chosen[i] = 1;
    tokens += cost;
  }
  return { text: lines.filter((_, i) => chosen[i] === 1).join(''), tokens };
}
