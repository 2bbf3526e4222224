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

/** The least share of words that speaks for a domain, and their least number. */
const MIN_SHARE = 0.04;
const MIN_WORDS = 2;

/**
 * A guess from the words alone: the domain of most of them, `general` where few are of any.
 * @param groups words of each group, in the order of `WORD_GROUPS`
 * @param words all words of the text
 */
export function guessDomain(groups: readonly number[], words: number): Domain {
  const counts = new Map<Domain, number>();
  for (const [index, group] of WORD_GROUPS.entries()) {
    const domain = DOMAIN_OF_GROUP[group];
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + (groups[index] ?? 0));
  }
  let best: Domain = 'general';
  let most = Math.max(MIN_WORDS, MIN_SHARE * words) - 1e-9;
  for (const [domain, count] of counts) {
    if (count <= most) continue;
    best = domain;
    most = count;
  }
  return best;
}
