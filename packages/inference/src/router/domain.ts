import type { Domain } from '../catalogue/domains.ts';
import { WORD_GROUPS, type WordGroup } from './lexicon.ts';

const DOMAIN_OF_GROUP: Readonly<Partial<Record<WordGroup, Domain>>> = {
  law: 'law',
  medicine: 'medicine',
  biology: 'science',
  chemistry: 'science',
  physics: 'science',
  mathematics: 'mathematics',
  statistics: 'mathematics',
  computing: 'code',
  economics: 'business',
  accounting: 'business',
  commerce: 'business',
  history: 'humanities',
  philosophy: 'humanities',
  psychology: 'humanities',
  religion: 'humanities',
  geography: 'humanities',
};

const SPEAKING = WORD_GROUPS.flatMap((group, index) => {
  const domain = DOMAIN_OF_GROUP[group];
  return domain === undefined ? [] : [{ index, domain }];
});
const DOMAINS = [...new Set(SPEAKING.map(({ domain }) => domain))];
/** For each word group that indicates a domain: its index in `WORD_GROUPS`, and that of its domain in `DOMAINS`. */
const PLACES = SPEAKING.map(({ index, domain }) => ({ index, place: DOMAINS.indexOf(domain) }));

/** The least share and number of words that indicate a domain. */
const MIN_SHARE = 0.04;
const MIN_WORDS = 2;

/**
 * Guesses the domain by its words: the one with the most, `general` if there are few of any.
 * @param groups words of each group, in the order of `WORD_GROUPS`
 * @param words all words of the text
 */
export function guessDomain(groups: readonly number[], words: number): Domain {
  const counts = new Uint32Array(DOMAINS.length);
  for (const { index, place } of PLACES) counts[place] = (counts[place] ?? 0) + (groups[index] ?? 0);
  let best: Domain = 'general';
  let most = Math.max(MIN_WORDS, MIN_SHARE * words) - 1e-9;
  for (let place = 0; place < DOMAINS.length; place++) {
    const count = counts[place] ?? 0;
    if (count <= most) continue;
    best = DOMAINS[place] ?? best;
    most = count;
  }
  return best;
}
