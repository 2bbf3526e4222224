import { extractiveRanking } from './relevance.ts';

/** The indexes of texts that follow one another, by how much a question needs each, the most needed first. */
export function rankTexts(texts: readonly string[], query: string): number[] {
  const scores = extractiveRanking(
    texts.map((text) => ({ text, block: 0, lead: 0, heading: 0, edge: false, salience: 0 })),
    query,
  );
  return texts.map((_, i) => i).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
}
