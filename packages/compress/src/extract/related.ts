import { DIMENSIONS, vectorLevels, vectorTerms } from './word-vectors.ts';

export { DIMENSIONS };

/** Least cosine of the vectors of two words that count as related. */
const LEAST = 0.35;

interface Vectors {
  readonly terms: readonly string[];
  /** Index of each term's vector, by term. */
  readonly rows: ReadonlyMap<string, number>;
  readonly values: Int8Array;
  readonly lengths: Float64Array;
}

let known: Vectors | undefined;

/** Terms with a known meaning, each with the row of its vector. */
export type Meanings = readonly (readonly [term: string, row: number])[];

export function meaningsOf(terms: Iterable<string>): Meanings {
  known ??= unpacked();
  const meanings: [string, number][] = [];
  for (const term of terms) {
    const row = known.rows.get(term);
    if (row !== undefined) meanings.push([term, row]);
  }
  return meanings;
}

/** Returns the terms near to a term in meaning, each with its nearness, above 0 and at most 1. */
export function nearTo(term: string, others: Meanings): [other: string, nearness: number][] {
  known ??= unpacked();
  const { rows, values, lengths } = known;
  const near: [string, number][] = [];
  const own = rows.get(term);
  if (own === undefined) return near;
  const vector = Array.from(values.subarray(own * DIMENSIONS, (own + 1) * DIMENSIONS));
  for (const [other, row] of others) {
    const start = row * DIMENSIONS;
    let product = 0;
    for (let d = 0; d < DIMENSIONS; d++) product += (vector[d] ?? 0) * (values[start + d] ?? 0);
    const cosine = product / ((lengths[own] ?? 1) * (lengths[row] ?? 1));
    if (cosine > LEAST && row !== own) near.push([other, (cosine - LEAST) / (1 - LEAST)]);
  }
  return near;
}

/** The vector of a term, `DIMENSIONS` numbers of length 1, and its row; null if none is known. */
export function vectorOf(term: string): { readonly row: number; readonly vector: Float64Array } | null {
  known ??= unpacked();
  const row = known.rows.get(term);
  if (row === undefined) return null;
  const length = known.lengths[row] ?? 1;
  const vector = new Float64Array(DIMENSIONS);
  for (let d = 0; d < DIMENSIONS; d++) vector[d] = (known.values[row * DIMENSIONS + d] ?? 0) / length;
  return { row, vector };
}

/** Every term that has a vector, by row: the more frequent a word is, the lower its row. */
export function termsByRow(): readonly string[] {
  known ??= unpacked();
  return known.terms;
}

function unpacked(): Vectors {
  const bytes = atob(vectorLevels());
  const values = new Int8Array(bytes.length * 2);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    values[2 * i] = (byte >> 4) - 8;
    values[2 * i + 1] = (byte & 15) - 8;
  }
  const terms = vectorTerms().split(' ');
  const lengths = Float64Array.from(terms, (_, row) =>
    Math.sqrt(
      values
        .subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS)
        .reduce((sum, value) => sum + value * value, 0),
    ),
  );
  return { terms, rows: new Map(terms.map((term, row) => [term, row])), values, lengths };
}
