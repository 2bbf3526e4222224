import type { Language } from './language.ts';
import { termsOf } from './terms.ts';

const K1 = 1.2;

/** An inverted index over units of text. */
export interface Index {
  readonly size: number;
  /** Languages of the units, and the language of each. */
  readonly languages: readonly Language[];
  readonly languageAt: (unit: number) => Language;
  /** For each term, the units that hold it and how often: unit, count, unit, count, … */
  readonly postings: ReadonlyMap<string, readonly number[]>;
  readonly lengths: readonly number[];
  readonly meanLength: number;
}

export function indexOf(
  texts: readonly string[],
  languageAt: (unit: number) => Language = () => 'en',
): Index {
  const languages = new Set<Language>();
  const postings = new Map<string, number[]>();
  const lengths: number[] = [];
  let total = 0;
  for (const [unit, text] of texts.entries()) {
    const language = languageAt(unit);
    languages.add(language);
    const terms = termsOf(text, language);
    lengths.push(terms.length);
    total += terms.length;
    for (const term of terms) post(postings, term, unit);
  }
  return {
    size: texts.length,
    languages: [...languages],
    languageAt,
    postings,
    lengths,
    meanLength: Math.max(1, total / Math.max(1, texts.length)),
  };
}

function post(postings: Map<string, number[]>, term: string, unit: number): void {
  const found = postings.get(term);
  if (found === undefined) postings.set(term, [unit, 1]);
  else if (found[found.length - 2] === unit) found[found.length - 1] = (found[found.length - 1] ?? 0) + 1;
  else found.push(unit, 1);
}

/** Returns the number of units in which a term occurs. */
export function holders({ postings }: Index, term: string): number {
  return (postings.get(term)?.length ?? 0) / 2;
}

/** Returns how rare a term is among the units: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, 3.1. */
export function idf(index: Index, term: string): number {
  const holding = holders(index, term);
  return Math.log(1 + (index.size - holding + 0.5) / (holding + 0.5));
}

/** Okapi BM25 of every unit for weighted terms. `b` is how far a unit's length counts against it. */
export function bm25(index: Index, terms: ReadonlyMap<string, number>, b: number): Float64Array {
  const scores = new Float64Array(index.size);
  for (const [term, weight] of terms) {
    const rarity = weight * idf(index, term);
    const posted = index.postings.get(term) ?? [];
    for (let i = 0; i < posted.length; i += 2) {
      const unit = posted[i] ?? 0;
      const count = posted[i + 1] ?? 0;
      const norm = K1 * (1 - b + (b * (index.lengths[unit] ?? 0)) / index.meanLength);
      scores[unit] = (scores[unit] ?? 0) + (rarity * count * (K1 + 1)) / (count + norm);
    }
  }
  return scores;
}
