import type { Sentence, Task } from './conversation.ts';
import { isQuestion } from './cues.ts';
import { Terms } from './terms.ts';

const fewestTerms = 3;
const leadBonus = 0.5;
const focusBonus = 1;
const usual = { share: 0.2, fewest: 1, most: 5 } as const;
const mostSentences = 50;

/**
 * The sentences that say most of what the material says, in their order: those with its frequent terms, each of which
 * counts less once it is covered (SumBasic: Nenkova and Vanderwende, 2005).
 */
export function summarySentences({ question, material }: Task): Sentence[] {
  const terms = new Terms();
  const focus = new Set(terms.read(question, 0, question.length));
  const found = material.map(({ text }) => [...new Set(terms.read(text, 0, text.length))]);
  const counts = new Float64Array(terms.size);
  for (const sentence of found) for (const term of sentence) counts[term] = (counts[term] ?? 0) + 1;
  const total = counts.reduce((sum, count) => sum + count, 1);
  const shares = counts.map((count) => count / total);
  const open = new Set(candidates(material, found));
  const target = Math.min(requestedSentences(question) ?? usualSentences(open.size), mostSentences);
  const chosen: number[] = [];
  while (chosen.length < target && open.size > 0) {
    const best = bestOf(open, (index) => worth(index, found[index] ?? [], shares, focus));
    open.delete(best);
    chosen.push(best);
    for (const term of found[best] ?? []) shares[term] = (shares[term] ?? 0) ** 2;
  }
  return chosen.sort((a, b) => a - b).flatMap((index) => material[index] ?? []);
}

/** Whole sentences if there are any, without repetitions. */
function candidates(material: readonly Sentence[], found: readonly (readonly number[])[]): number[] {
  const seen = new Set<string>();
  const distinct = material.flatMap(({ text }, index) => {
    if (seen.has(text)) return [];
    seen.add(text);
    return [index];
  });
  const sentences = distinct.filter((index) => {
    const { text = '', code = false } = material[index] ?? {};
    return !code && !isQuestion(text) && !/^#|^\|/.test(text) && (found[index]?.length ?? 0) >= fewestTerms;
  });
  return sentences.length > 0 ? sentences : distinct;
}

function bestOf(open: ReadonlySet<number>, worth: (index: number) => number): number {
  let best = -1;
  let most = -1;
  for (const index of open) {
    const value = worth(index);
    if (value > most) {
      best = index;
      most = value;
    }
  }
  return best;
}

function worth(
  index: number,
  sentence: readonly number[],
  shares: Float64Array,
  focus: ReadonlySet<number>,
): number {
  let sum = 0;
  let focused = 0;
  for (const term of sentence) {
    sum += shares[term] ?? 0;
    if (focus.has(term)) focused += 1;
  }
  const lead = index === 0 ? 1 + leadBonus : 1;
  return (sum / Math.max(fewestTerms, sentence.length) ** 0.7) * lead * (1 + focusBonus * focused);
}

function usualSentences(candidates: number): number {
  return Math.max(usual.fewest, Math.min(usual.most, Math.ceil(candidates * usual.share)));
}

const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const counted = new RegExp(
  `\\b(\\d{1,2}|${numbers.join('|')}|a single)[ -](?:short |key |main |brief |bullet )*(?:sentences?|points?|bullets?|lines?|takeaways|facts)\\b`,
  'i',
);

/** "in two sentences", "three key points" */
function requestedSentences(question: string): number | null {
  const [, word = ''] = counted.exec(question) ?? [];
  if (word === '') return null;
  const number = numbers.indexOf(word.toLowerCase());
  return Math.max(1, number >= 0 ? number : Number.parseInt(word, 10) || 1);
}
