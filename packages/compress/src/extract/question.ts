import { type Index, idf } from './bm25.ts';
import { meaningsOf, nearTo } from './related.ts';
import { isStopWord, subjectsOf, termsOf } from './terms.ts';

/** Weights beside a word of the question: a similarly spelled word in place of one that is missing, and a vague word. */
const WEIGHT = { similar: 0.6, vague: 0.3 };

/** Words that say which kind of answer is asked for, not what it is about. */
const vague = new Set(
  termsOf(
    'kind type sort name many much long often happen thing favourite favorite way place time year month day person people make take go give find use say tell',
  ),
);

export function questionTerms(index: Index, query: string): Map<string, number> {
  const terms = new Map<string, number>();
  const add = (term: string, weight: number): void => {
    if (index.postings.has(term)) terms.set(term, Math.max(terms.get(term) ?? 0, weight));
  };
  const found = index.languages.flatMap((language) => subjectsOf(query, language));
  const subjects = new Set(found.every((term) => vague.has(term)) ? termsOf(query) : found);
  for (const term of subjects) {
    add(term, vague.has(term) ? WEIGHT.vague : 1);
    if (!index.postings.has(term))
      for (const similar of similarTerms(index, term)) add(similar, WEIGHT.similar);
  }
  return terms;
}

/** Most words of a question that are compared with all others: the cost grows with each. */
const MOST_COMPARED = 32;

/** For each unit, scores for the nearest words in meaning to those words of the question that it lacks. */
export function relatedScores(index: Index, query: string): Float64Array {
  const scores = new Float64Array(index.size);
  // The vectors are of English words.
  if (!index.languages.includes('en')) return scores;
  const subjects = subjectsOf(query)
    .filter((term) => !vague.has(term))
    .slice(0, MOST_COMPARED);
  const meanings = meaningsOf(index.postings.keys());
  for (const term of subjects) {
    const best = new Float64Array(index.size);
    for (const [other, nearness] of nearTo(term, meanings)) {
      if (isStopWord(other)) continue;
      const worth = nearness * idf(index, other);
      raise(best, index.postings.get(other) ?? [], worth);
    }
    clear(best, index.postings.get(term) ?? []);
    for (let unit = 0; unit < best.length; unit++) scores[unit] = (scores[unit] ?? 0) + (best[unit] ?? 0);
  }
  return scores;
}

function raise(best: Float64Array, posted: readonly number[], worth: number): void {
  for (let i = 0; i < posted.length; i += 2) {
    const unit = posted[i] ?? 0;
    if (worth > (best[unit] ?? 0)) best[unit] = worth;
  }
}

function clear(best: Float64Array, posted: readonly number[]): void {
  for (let i = 0; i < posted.length; i += 2) best[posted[i] ?? 0] = 0;
}

/** Indexed terms that share at least four characters at the beginning, and most of their length, with a term, or hold an identifier. */
function similarTerms(index: Index, term: string): string[] {
  if (term.length < 4) return [];
  const found: string[] = [];
  const identifies = term.length > 4 && /\d/.test(term);
  for (const candidate of index.postings.keys()) {
    if (identifies && candidate.includes(term)) found.push(candidate);
    if (Math.abs(candidate.length - term.length) > 4 || !candidate.startsWith(term.slice(0, 4))) continue;
    let shared = 4;
    while (shared < term.length && term[shared] === candidate[shared]) shared++;
    if (shared / Math.max(term.length, candidate.length) >= 0.66) found.push(candidate);
  }
  return found;
}

const timeWords =
  /\b(?:\d{4}|\d{1,2}[:/.]\d{2}|\d{1,2}(?:st|nd|rd|th)|yesterday|today|tomorrow|tonight|ago|(?:last|next|this|past) (?:week|month|year|night|summer|winter|spring|fall|autumn|weekend)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b/i;
const amountWords =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million|once|twice|several|couple)\b|[$€£%]/i;
const nameWords = /\s[A-Z][a-z]+/;

/** Returns patterns that an answer to the question must contain. */
export function cuesOf(query: string): RegExp[] {
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

/** The share of the cues that a text matches. */
export function cueShare(cues: readonly RegExp[], text: string): number {
  return cues.length === 0 ? 0 : cues.filter((cue) => cue.test(text)).length / cues.length;
}

/** Longest question, in UTF-16 units. A longer text is material, whose first and last lines may ask. */
const MAX_QUESTION = 1000;
const MAX_ASKING = 400;
const asks = /\?["”’')\]*]*$|^(?:question|query|task|q)\s*:/i;

/** The question in a user's text: all of it, or of material its last line if that asks, else its beginning and its end. */
export function askedIn(text: string): string {
  const whole = text.trim();
  if (whole.length <= MAX_QUESTION) return whole;
  const last = whole.slice(whole.lastIndexOf('\n') + 1).trim();
  if (last.length <= MAX_ASKING && asks.test(last)) return last;
  const first = whole.slice(0, whole.indexOf('\n', 1)).trim();
  if (first.length <= MAX_ASKING && asks.test(first)) return first;
  const paragraphs = [whole.split(/\n\s*\n/, 1)[0] ?? '', whole.slice(whole.lastIndexOf('\n\n') + 1)];
  const short = paragraphs.filter(({ length }) => length <= MAX_ASKING);
  return short.length > 0 ? short.join('\n') : `${first.slice(0, MAX_ASKING)}\n${last.slice(-MAX_ASKING)}`;
}
