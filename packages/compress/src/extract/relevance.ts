import { bm25, holders, type Index, idf, indexOf, smoothed } from './bm25.ts';
import { isStopWord, subjectsOf, termsOf } from './terms.ts';

/** A unit as it is scored. */
export interface Scored {
  readonly text: string;
  /** Who speaks, in a dialogue. */
  readonly speaker?: string | undefined;
  /** At the beginning or the end of its block. */
  readonly edge: boolean;
  /** How much the unit stands out from others of its kind, 0 to 1: a rare template in a log, an error. */
  readonly salience: number;
}

/** How a tier ranks units for a question: a score for each, higher first. */
export type Ranking = (units: readonly Scored[], query: string) => Float64Array;

/** The baseline: Okapi BM25 with the usual b, smoothed over direct neighbours, and nothing else. */
export const plainBm25: Ranking = (units, query) => {
  const index = indexOf(units.map(({ text }) => text));
  const terms = new Map([...new Set(termsOf(query))].map((term) => [term, 1]));
  return smoothed(bm25(index, terms, 0.75), [0.5]);
};

/** Units are short and of one kind, so that their length says little about their worth. */
const LENGTH_PENALTY = 0.35;
const NEIGHBOURS = [0.4, 0.15];
/** The best units whose words join the question, how many words, and what they weigh beside the question's own. */
const FEEDBACK = { units: 4, terms: 12, weight: 0.2 };
const SIMILAR_WEIGHT = 0.6;
const BOOST = { speaker: 0.25, cue: 0.2, coverage: 0.5 };
/** Parts of the best score, for what has its place without any word of the question. */
const PRIOR = { edge: 0.12, salience: 0.35, facts: 0.04 };

/**
 * BM25 over stems, with the question's rare spellings matched to similar words, its subject widened by what its best
 * answers speak of, the neighbours' share, and a bonus for what the question asks for: a speaker, a time, a number.
 */
export const extractiveRanking: Ranking = (units, query) => {
  const index = indexOf(units.map(({ text }) => text));
  const asked = questionTerms(index, query);
  const own = bm25(index, asked, LENGTH_PENALTY);
  const covered = coverage(index, asked);
  const focused = own.map(
    (score, i) => score * (1 - BOOST.coverage + BOOST.coverage * (covered[i] ?? 0) * 2),
  );
  const widened = bm25(index, feedbackTerms(index, units, focused, asked), LENGTH_PENALTY);
  const scores = smoothed(
    focused.map((score, i) => score + (widened[i] ?? 0)),
    NEIGHBOURS,
  );
  const best = scores.reduce((most, score) => Math.max(most, score), 1);
  const cues = cuesOf(query);
  const named = new Set(termsOf(query));
  return scores.map((score, i) => {
    const unit = units[i];
    if (unit === undefined) return 0;
    const boost = 1 + BOOST.cue * cueShare(cues, unit.text) + (isNamed(unit, named) ? BOOST.speaker : 0);
    return score * boost + best * prior(unit);
  });
};

/** The question's terms by weight; one that no unit holds is replaced by similar ones that some hold. */
function questionTerms(index: Index, query: string): Map<string, number> {
  const terms = new Map<string, number>();
  for (const term of subjectsOf(query)) {
    if (index.postings.has(term)) terms.set(term, 1);
    else
      for (const similar of similarTerms(index, term))
        terms.set(similar, Math.max(terms.get(similar) ?? 0, SIMILAR_WEIGHT));
  }
  return terms;
}

/** Terms that share a beginning of at least four characters and most of their length. */
function similarTerms(index: Index, term: string): string[] {
  if (term.length < 4) return [];
  const found: string[] = [];
  for (const candidate of index.postings.keys()) {
    if (Math.abs(candidate.length - term.length) > 4 || !candidate.startsWith(term.slice(0, 4))) continue;
    let shared = 4;
    while (shared < term.length && term[shared] === candidate[shared]) shared++;
    if (shared / Math.max(term.length, candidate.length) >= 0.66) found.push(candidate);
  }
  return found;
}

/** For each unit, the share of the question that it holds, by rarity. */
function coverage(index: Index, terms: ReadonlyMap<string, number>): Float64Array {
  const covered = new Float64Array(index.size);
  let total = 0;
  for (const [term, weight] of terms) {
    const rarity = weight * idf(index, term);
    total += rarity;
    const posted = index.postings.get(term) ?? [];
    for (let i = 0; i < posted.length; i += 2) {
      const unit = posted[i] ?? 0;
      covered[unit] = (covered[unit] ?? 0) + rarity;
    }
  }
  return total === 0 ? covered : covered.map((share) => share / total);
}

/** Pseudo-relevance feedback: the terms that mark the best units. */
function feedbackTerms(
  index: Index,
  units: readonly Scored[],
  scores: Float64Array,
  asked: ReadonlyMap<string, number>,
): Map<string, number> {
  const best = topIndexes(scores, FEEDBACK.units).filter((i) => (scores[i] ?? 0) > 0);
  const weights = new Map<string, number>();
  for (const i of best) {
    for (const term of new Set(termsOf(units[i]?.text ?? ''))) {
      if (term.length < 3 || asked.has(term) || isStopWord(term)) continue;
      weights.set(term, (weights.get(term) ?? 0) + idf(index, term));
    }
  }
  const chosen = [...weights]
    .filter(([term]) => holders(index, term) > 1)
    .sort(byWeight)
    .slice(0, FEEDBACK.terms);
  const most = chosen[0]?.[1] ?? 1;
  return new Map(chosen.map(([term, weight]) => [term, (FEEDBACK.weight * weight) / most]));
}

function byWeight([termA, a]: readonly [string, number], [termB, b]: readonly [string, number]): number {
  return b - a || (termA < termB ? -1 : 1);
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

const timeWords =
  /\b(?:\d{4}|\d{1,2}[:/.]\d{2}|\d{1,2}(?:st|nd|rd|th)|yesterday|today|tomorrow|tonight|ago|(?:last|next|this|past) (?:week|month|year|night|summer|winter|spring|fall|autumn|weekend)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b/i;
const amountWords =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|once|twice|several|couple)\b|[$€£%]/i;
const nameWords = /\s[A-Z][a-z]+/;

/** What an answer to the question must hold. */
function cuesOf(query: string): RegExp[] {
  const cues: RegExp[] = [];
  if (
    /\b(?:when|what (?:date|day|time|year|month)|how long|since|until|which (?:day|date|year|month))\b/i.test(
      query,
    )
  )
    cues.push(timeWords);
  if (
    /\b(?:how (?:many|much|long|old|often|far|big)|what (?:number|amount|price|cost|rate|percentage)|count|total|cost)\b/i.test(
      query,
    )
  )
    cues.push(amountWords);
  if (/\b(?:who|whom|whose|where|which|name)\b/i.test(query)) cues.push(nameWords);
  return cues;
}

function cueShare(cues: readonly RegExp[], text: string): number {
  return cues.length === 0 ? 0 : cues.filter((cue) => cue.test(text)).length / cues.length;
}

function isNamed({ speaker }: Scored, named: ReadonlySet<string>): boolean {
  return speaker !== undefined && termsOf(speaker).some((term) => named.has(term));
}

const facts = /\d|\b[A-Z]{2,}\b|[a-z]\s[A-Z][a-z]+|@|https?:/;

function prior({ text, edge, salience }: Scored): number {
  return (edge ? PRIOR.edge : 0) + PRIOR.salience * salience + (facts.test(text) ? PRIOR.facts : 0);
}
