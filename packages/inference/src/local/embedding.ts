import { DIMENSIONS as MEANING, subjectsOf, termsByRow, termsOf, vectorOf } from '@tallystick/compress/words';
import { embedCard } from './cards.ts';

/** Dimensions that represent which words a text has; the other `MEANING` dimensions represent what they mean. */
const WORDING = embedCard.limits.dimensions - MEANING;
/** Share of the meaning dimensions in a comparison, against the wording dimensions. */
const MEANING_SHARE = 0.65;
/** SIF's constant: a word of this probability has half the weight of a rare one. */
const SMOOTHING = 0.001;
/** Lengths of the parts by which a word without a vector is compared. */
const PARTS = [3, 4];
const PARTS_SHARE = 0.5;

/**
 * Embeds a text as 512 numbers of length 1: the mean of its words' vectors, rare words weighing more (SIF: Arora, Liang and
 * Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017), beside a hash of the words themselves. A word
 * without a vector is also hashed in its parts. The same text has the same numbers on every machine.
 * @returns null where the text has no word in Latin letters and no number
 */
export function embeddingOf(text: string): Float32Array | null {
  const subjects = new Set(subjectsOf(text));
  const terms = termsOf(text).filter((term) => subjects.has(term) && /[a-z0-9]/.test(term));
  if (terms.length === 0) return null;
  const meaning = new Float64Array(MEANING);
  const wording = new Float64Array(WORDING);
  for (const [term, count] of countsOf(terms)) {
    const known = vectorOf(term);
    const weight = Math.sqrt(count) * rarityOf(known?.row ?? termsByRow().length);
    if (known !== null) add(meaning, known.vector, weight);
    else {
      const parts = [...partsOf(term)];
      for (const part of parts) hash(wording, part, (weight * PARTS_SHARE) / Math.sqrt(parts.length));
    }
    hash(wording, term, weight);
  }
  const shared = commonDirection();
  add(meaning, shared, -product(meaning, shared));
  scale(meaning, MEANING_SHARE);
  scale(wording, 1 - MEANING_SHARE);
  const all = Float64Array.from([...meaning, ...wording]);
  scale(all, 1);
  return Float32Array.from(all);
}

/** The weight of a word by its frequency rank, from Zipf's law. */
function rarityOf(row: number): number {
  return SMOOTHING / (SMOOTHING + probabilityOf(row));
}

const probabilityOf = (row: number): number => 1 / (9.5 * (row + 3));

let common: Float64Array | undefined;

/** What all texts have in common, and so tells none apart: the mean of all words by their frequency. */
function commonDirection(): Float64Array {
  if (common !== undefined) return common;
  common = new Float64Array(MEANING);
  for (const [row, term] of termsByRow().entries()) {
    const known = vectorOf(term);
    if (known !== null) add(common, known.vector, probabilityOf(row) * rarityOf(row));
  }
  scale(common, 1);
  return common;
}

function countsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function* partsOf(term: string): Generator<string> {
  const marked = `<${term}>`;
  for (const length of PARTS)
    for (let at = 0; at + length <= marked.length; at++) yield marked.slice(at, at + length);
}

/** Adds or subtracts `weight` at the dimension that the text's hash selects; the hash also selects the sign. */
function hash(sum: Float64Array, text: string, weight: number): void {
  const hashed = fnv1a(text);
  const at = (hashed >>> 1) % sum.length;
  sum[at] = (sum[at] ?? 0) + (hashed % 2 === 0 ? -weight : weight);
}

/** 32 bits of FNV-1a over UTF-16 code units, mixed as MurmurHash3 ends. */
function fnv1a(text: string): number {
  let hashed = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hashed = Math.imul(hashed ^ text.charCodeAt(at), 0x01000193);
  hashed = Math.imul(hashed ^ (hashed >>> 16), 0x85ebca6b);
  hashed = Math.imul(hashed ^ (hashed >>> 13), 0xc2b2ae35);
  return (hashed ^ (hashed >>> 16)) >>> 0;
}

function add(sum: Float64Array, vector: Float64Array, times: number): void {
  for (let d = 0; d < sum.length; d++) sum[d] = (sum[d] ?? 0) + times * (vector[d] ?? 0);
}

function product(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d++) sum += (a[d] ?? 0) * (b[d] ?? 0);
  return sum;
}

/** Gives a vector the length; one of length 0 stays. */
function scale(vector: Float64Array, length: number): void {
  const own = Math.sqrt(product(vector, vector));
  if (own > 0) for (let d = 0; d < vector.length; d++) vector[d] = ((vector[d] ?? 0) / own) * length;
}
