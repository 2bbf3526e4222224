import { holders, type Index } from './bm25.ts';
import type { Scored } from './scored.ts';
import { termsOf } from './terms.ts';

/** Most units that may hold what links them, most steps, and the strength that each step leaves. */
const MOST_HOLDERS = 5;
const MOST_STEPS = 8;
const DECAY = 0.93;
/** Matches identifiers: capitals, letters with digits, long numbers, names with underscores. */
const identifier =
  /(?<![\p{L}\p{N}_])(?:\p{Lu}[\p{Lu}\p{N}_-]{2,}|\d{5,}|(?=[\p{L}\p{N}_-]*\p{N})(?=[\p{L}\p{N}_-]*\p{L})[\p{L}\p{N}_-]{3,}|\p{L}[\p{L}\p{N}]*_[\p{L}\p{N}_]+)(?![\p{L}\p{N}_])/gu;

/**
 * For each unit, how strongly a chain of rare identifiers links it to one of the question, 0 to 1: a variable to the one that it was assigned
 * from, an order to its shipment. Identifiers that more than a few units hold link nothing.
 */
export function linkStrengths(index: Index, units: readonly Scored[], query: string): Float64Array {
  const strengths = new Float64Array(index.size);
  const seen = new Set<string>();
  let next = identifiersIn(query);
  let strength = 1;
  for (let step = 0; step < MOST_STEPS && next.length > 0; step++, strength *= DECAY) {
    const reached: number[] = [];
    for (const term of next) {
      if (seen.has(term) || holders(index, term) > MOST_HOLDERS) continue;
      seen.add(term);
      const posted = index.postings.get(term) ?? [];
      for (let i = 0; i < posted.length; i += 2) {
        const unit = posted[i] ?? 0;
        if (strengths[unit] === 0) reached.push(unit);
        strengths[unit] = Math.max(strengths[unit] ?? 0, strength);
      }
    }
    next = reached.flatMap((unit) => identifiersIn(units[unit]?.text ?? ''));
  }
  return strengths;
}

const identifiersIn = (text: string): string[] =>
  (text.match(identifier) ?? []).flatMap((found) => termsOf(found).slice(0, 1));
