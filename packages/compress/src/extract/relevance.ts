import { bm25, type Index, idf, indexOf } from './bm25.ts';
import { namedTerms } from './feedback.ts';
import { languageOf } from './language.ts';
import { linkStrengths } from './links.ts';
import { cueShare, cuesOf, questionTerms, relatedScores } from './question.ts';
import type { Scored } from './scored.ts';
import { isStopWord, termsOf } from './terms.ts';

/** How units are ranked for a question: a score for each, higher first. */
export type Ranking = (units: readonly Scored[], query: string) => Float64Array;

/** BM25's `b`. It is low, because units are short and of one kind, so their length says little about their worth. */
const LENGTH_PENALTY = 0.35;
/** Share that a unit gets of the scores before and after it; after a question, an answer gets more of that question's score. */
const SHARE = {
  before: 0.3,
  before2: 0.2,
  /** Each of the third and the fourth before, and behind, if the unit is a turn. */
  farBefore: 0.1,
  farBehind: 0.03,
  behind: 0.15,
  behind2: 0.05,
  answer: 0.3,
  lead: 0.2,
  heading: 0.3,
};
const HOPS = 2;
/** Part of the best score that a unit gets which the question's identifiers link. */
const LINK = 0.7;
const BOOST = { name: 0.5, cue: 0.3, coverage: 0.5 };
/** Parts of the best score that a unit may get without any word of the question. */
const PRIOR = { edge: 0.12, salience: 0.7, facts: 0.04, rarity: 0.2 };

/**
 * Ranks by BM25 over stems, joined by words that are near in meaning and by names in the best answers, a share of the
 * neighbours' scores, and a bonus for what the question asks for: a speaker, a time, a number, a name.
 */
export const extractiveRanking: Ranking = (units, query) => {
  const index = indexed(units);
  const queryTerms = questionTerms(index, query);
  const related = relatedScores(index, query);
  const own = bm25(index, queryTerms, LENGTH_PENALTY).map((score, i) => score + (related[i] ?? 0));
  const covered = coverage(index, queryTerms);
  const focused = own.map(
    (score, i) => score * (1 - BOOST.coverage + BOOST.coverage * (covered[i] ?? 0) * 2),
  );
  const scores = hopped(index, units, inContext(units, focused), queryTerms);
  const bestOf = bestByBlock(units, scores);
  const best = bestOf.reduce((most, score) => Math.max(most, score), 1);
  const rarity = raritiesOf(index);
  const cues = cuesOf(query);
  const isNamed = namedIn(query);
  const links = linkStrengths(index, units, query);
  return scores.map((score, i) => {
    const unit = units[i];
    if (unit === undefined) return 0;
    const boost = 1 + BOOST.cue * cueShare(cues, unit.text) + (isNamed(unit.name) ? BOOST.name : 0);
    const place = (bestOf[unit.block] ?? 0) * placePrior(unit);
    const prior = factPrior(unit) + PRIOR.rarity * (rarity[i] ?? 0) + LINK * (links[i] ?? 0);
    return boost * (score + place + best * prior);
  });
};

/** The index of units, each block in its own language. */
function indexed(units: readonly Scored[]): Index {
  const languages = new Map(
    [...Map.groupBy(units, ({ block }) => block)].map(([block, own]) => [
      block,
      languageOf(own.map(({ text }) => text)),
    ]),
  );
  return indexOf(
    units.map(({ text }) => text),
    (unit) => languages.get(units[unit]?.block ?? 0) ?? 'en',
  );
}

/** The best score in each block: the worth of a unit's position depends on the worth of its block. */
function bestByBlock(units: readonly Scored[], scores: Float64Array): number[] {
  const best: number[] = [];
  for (const [i, { block }] of units.entries()) best[block] = Math.max(best[block] ?? 1, scores[i] ?? 0);
  return best;
}

/** For each unit, the share of the question's terms that it holds, weighted by their rarity. */
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

const question = /\?["”’')\]*]*\s*$/;

/** Searches again and again for the names in the best units, because the answer may be two steps away. */
function hopped(
  index: Index,
  units: readonly Scored[],
  first: Float64Array,
  queryTerms: ReadonlyMap<string, number>,
): Float64Array {
  const known = new Map(queryTerms);
  let scores = first;
  for (let hop = 0; hop < HOPS; hop++) {
    const named = namedTerms(index, units, scores, known);
    if (named.size === 0) break;
    const found = inContext(units, bm25(index, named, LENGTH_PENALTY));
    const before = scores;
    scores = before.map((score, i) => score + (found[i] ?? 0));
    for (const [term, weight] of named) known.set(term, weight);
  }
  return scores;
}

/** Adds shares of neighbouring scores: an answer stands beside its question, mostly after it, perhaps without a word of it. */
function inContext(units: readonly Scored[], scores: Float64Array): Float64Array {
  return scores.map((score, i) => {
    const at = (other: number): number =>
      units[other]?.block === units[i]?.block ? (scores[other] ?? 0) : 0;
    const answers = question.test(units[i - 1]?.text.slice(-80) ?? '') ? SHARE.answer : 0;
    const before = (SHARE.before + answers) * at(i - 1) + SHARE.before2 * at(i - 2);
    const lead = units[i]?.lead ?? 0;
    const heading = units[i]?.heading ?? 0;
    const led =
      (lead > 0 ? SHARE.lead * at(i - lead) : 0) + (heading > 0 ? SHARE.heading * at(i - heading) : 0);
    const far = units[i]?.turn === true ? SHARE.farBefore * (at(i - 3) + at(i - 4)) : 0;
    const farBehind = units[i]?.turn === true ? SHARE.farBehind * (at(i + 3) + at(i + 4)) : 0;
    return score + before + led + far + farBehind + SHARE.behind * at(i + 1) + SHARE.behind2 * at(i + 2);
  });
}

/** Returns how much each unit tells, 0 to 1: the rarity of its words together, relative to that of the richest tenth. */
function raritiesOf(index: Index): Float64Array {
  const sums = new Float64Array(index.size);
  for (const [term, posted] of index.postings) {
    if (index.languages.some((language) => isStopWord(term, language))) continue;
    const rarity = idf(index, term);
    for (let i = 0; i < posted.length; i += 2) {
      const unit = posted[i] ?? 0;
      sums[unit] = (sums[unit] ?? 0) + rarity;
    }
  }
  const high = sums.toSorted()[Math.floor(sums.length * 0.9)] || 1;
  return sums.map((sum) => Math.min(1, sum / high));
}

/** Returns a function that tells whether a speaker or a function is named in the question. */
function namedIn(query: string): (name: string | undefined) => boolean {
  const named = new Set(termsOf(query).filter((term) => !isStopWord(term)));
  const known = new Map<string, boolean>();
  return (name) => {
    if (name === undefined) return false;
    const found = known.get(name) ?? termsOf(name).some((term) => named.has(term));
    known.set(name, found);
    return found;
  };
}

const facts = /\d|\b[A-Z]{2,}\b|[a-z]\s[A-Z][a-z]+|@|https?:/;

const placePrior = ({ edge, salience }: Scored): number =>
  (edge ? PRIOR.edge : 0) + PRIOR.salience * salience;

const factPrior = ({ text }: Scored): number => (facts.test(text) ? PRIOR.facts : 0);
