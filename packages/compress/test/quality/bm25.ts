import { type Compressed, compressBy } from '../../src/compress.ts';
import { bm25, indexOf } from '../../src/extract/bm25.ts';
import { termsOf } from '../../src/extract/terms.ts';
import type { Strategy } from '../../src/extract/tier.ts';
import type { ChatMessage, CompressOptions } from '../../src/index.ts';

/** The baseline: Okapi BM25 with the usual b, smoothed over direct neighbours, and nothing else. */
const plainBm25: Strategy = {
  ranking: (units, query) => {
    const index = indexOf(units.map(({ text }) => text));
    const terms = new Map([...new Set(termsOf(query))].map((term) => [term, 1]));
    return smoothed(bm25(index, terms, 0.75));
  },
  worth: (score) => score,
  headings: false,
};

/** Each score with half of its neighbours': an answer often stands beside its question. */
function smoothed(scores: Float64Array): Float64Array {
  return scores.map((score, i) => score + ((scores[i - 1] ?? 0) + (scores[i + 1] ?? 0)) / 2);
}

/** Cuts as the extractive tier does, with the same protections, but chooses what stays by plain BM25. */
export function compressByBm25(
  messages: readonly ChatMessage[],
  options: Omit<CompressOptions, 'tier'>,
): Compressed {
  return compressBy(plainBm25, messages, { ...options, tier: 'extractive' });
}
