import { holders, type Index } from './bm25.ts';
import type { Scored } from './scored.ts';
import { isStopWord, termsOf } from './terms.ts';

/** Number of best units whose names are followed, and the weight of such a name beside the question's own words. */
const HOP_UNITS = 3;
const HOP_WEIGHT = 0.35;
const name = /(?<=[\p{L}\p{N},;:"'“(] ?)\p{Lu}[\p{L}\p{N}'-]+/gu;

/** Names in the best units that few other units hold, and that the question does not contain. */
export function namedTerms(
  index: Index,
  units: readonly Scored[],
  scores: Float64Array,
  questionTerms: ReadonlyMap<string, number>,
): Map<string, number> {
  const few = Math.max(6, index.size / 20);
  const terms = new Map<string, number>();
  for (const i of topIndexes(scores, HOP_UNITS)) {
    for (const [found] of (units[i]?.text ?? '').matchAll(name)) {
      const language = index.languageAt(i);
      for (const term of termsOf(found, language)) {
        const holding = holders(index, term);
        if (!questionTerms.has(term) && !isStopWord(term, language) && holding > 1 && holding <= few)
          terms.set(term, HOP_WEIGHT);
      }
    }
  }
  return terms;
}

function topIndexes(scores: Float64Array, count: number): number[] {
  const top: number[] = [];
  for (const [i, score] of scores.entries()) {
    if (top.length === count && score <= (scores[top.at(-1) ?? 0] ?? 0)) continue;
    let at = top.length;
    while (at > 0 && (scores[top[at - 1] ?? 0] ?? 0) < score) at--;
    top.splice(at, 0, i);
    if (top.length > count) top.pop();
  }
  return top;
}
