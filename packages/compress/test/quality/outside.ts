/** The usual baseline, as anyone would write it: BM25 over lines, without marks. */
import type { Tokenizer } from '../../src/index.ts';

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

export function outsideBm25(text: string, query: string, budget: number, tokenizer: Tokenizer): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const docs = lines.map(words);
  const mean = docs.reduce((sum, doc) => sum + doc.length, 0) / docs.length;
  const asked = [...new Set(words(query))];
  const holding = new Map(asked.map((term) => [term, docs.filter((doc) => doc.includes(term)).length]));
  const raw = docs.map((doc) =>
    asked.reduce((sum, term) => {
      const count = doc.filter((word) => word === term).length;
      const n = holding.get(term) ?? 0;
      const idf = Math.log(1 + (docs.length - n + 0.5) / (n + 0.5));
      return sum + (idf * count * 2.5) / (count + 1.5 * (0.25 + (0.75 * doc.length) / mean));
    }, 0),
  );
  const scores = raw.map((score, i) => score + 0.5 * ((raw[i - 1] ?? 0) + (raw[i + 1] ?? 0)));
  const order = scores.map((_, i) => i).sort((x, y) => (scores[y] ?? 0) - (scores[x] ?? 0) || x - y);
  const kept = new Set<number>();
  let left = budget;
  for (const i of order) {
    const cost = tokenizer.count(`${lines[i]}\n`);
    if (cost > left) continue;
    left -= cost;
    kept.add(i);
  }
  return lines.filter((_, i) => kept.has(i)).join('\n');
}
