import type { Sentence, Task } from './conversation.ts';
import { cueOf, isQuestion } from './cues.ts';
import { Terms } from './terms.ts';

/** BM25, with little weight on length, since sentences are of similar length. */
const k1 = 1.2;
const b = 0.4;
const neighbourShare = 0.3;
const antecedentShare = 0.8;
const cueBonus = 0.5;
/** Share of the question's terms that must be near an answer: without the requested kind of answer, and with it. */
const enough = 0.62;
const enoughWithCue = 0.45;
const nearbyWeight = 0.7;
/** Score, as a share of the best, that a further sentence must reach. */
const alsoGood = 0.72;
const mostSentences = 3;

interface LocalQuestion {
  /** Terms of the question; names and numbers weigh more. */
  readonly weights: ReadonlyMap<number, number>;
  readonly total: number;
  /** Terms that are neither names nor numbers: what is asked about the named things. */
  readonly ordinary: readonly number[];
}

/** The sentences that answer the question best, in their order; empty where none does. */
export function answerSentences({ question, before, material }: Task): Sentence[] {
  const terms = new Terms();
  const cue = cueOf(question);
  const weighted = weigh(terms, cue === null ? question : question.replace(howPhrase, ''), before);
  if (weighted.total === 0 || material.length === 0) return [];
  const text: Indexed = { material, found: material.map(({ text }) => terms.read(text, 0, text.length)) };
  const own = bm25(text.found, weighted.weights);
  const names = namesIn(question);
  const scores = material.map((sentence, index) => {
    const score = (own[index] ?? 0) + besideScore(text, own, index);
    if (score === 0 || (!sentence.code && isQuestion(sentence.text))) return 0;
    const shows =
      cue?.shows.test(names === null ? sentence.text : sentence.text.replaceAll(names, '')) ?? false;
    if (cue?.needed === true && !shows) return 0;
    const share = covered(text, weighted, index);
    return share < (shows ? enoughWithCue : enough) ? 0 : score * (shows ? 1 + cueBonus : 1) * (0.5 + share);
  });
  return pick(text, scores, weighted);
}

/** "How tall" is answered by a length, and the sentence need not contain "tall". */
const howPhrase =
  /\bhow (?:long|far|tall|high|deep|wide|old|many|much|often|big|large|fast|heavy|expensive)\b/i;

/** Names in the question itself are not the person or thing that it asks for. */
function namesIn(question: string): RegExp | null {
  const names = [...question.matchAll(/(?<=\s)\p{Lu}[\p{L}\p{N}]+/gu)].map(([name]) => name);
  return names.length === 0 ? null : new RegExp(`\\b(?:${names.join('|')})\\b`, 'gu');
}

/** The material, and the terms of each of its sentences. */
interface Indexed {
  readonly material: readonly Sentence[];
  readonly found: readonly (readonly number[])[];
}

function weigh(terms: Terms, question: string, before: string): LocalQuestion {
  const weights = new Map<number, number>();
  const ordinary: number[] = [];
  for (const word of question.matchAll(/[^\s,;:!?"“”()]+/gu)) {
    const special = word.index > 0 && /^\p{Lu}|\p{N}/u.test(word[0]);
    for (const term of terms.read(word[0], 0, word[0].length)) {
      if (!special && !weights.has(term)) ordinary.push(term);
      weights.set(term, Math.max(weights.get(term) ?? 0, special ? 1.5 : 1));
    }
  }
  let total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  // A question such as "And when was that?" refers to the question before it.
  if (weights.size < 2 && before !== '')
    for (const term of terms.read(before, 0, before.length))
      if (!weights.has(term)) {
        weights.set(term, 0.4);
        total += 0.4;
      }
  return { weights, total, ordinary };
}

function bm25(found: readonly (readonly number[])[], weights: ReadonlyMap<number, number>): number[] {
  const inSentences = new Map<number, number>();
  let length = 0;
  for (const sentence of found) {
    length += sentence.length;
    for (const term of new Set(sentence.filter((one) => weights.has(one))))
      inSentences.set(term, (inSentences.get(term) ?? 0) + 1);
  }
  const mean = Math.max(1, length / found.length);
  return found.map((sentence) => {
    const counts = new Map<number, number>();
    for (const term of sentence) if (weights.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
    let score = 0;
    for (const [term, count] of counts) {
      const holding = inSentences.get(term) ?? 0;
      const rarity = Math.log(1 + (found.length - holding + 0.5) / (holding + 0.5));
      const saturated = (count * (k1 + 1)) / (count + k1 * (1 - b + (b * sentence.length) / mean));
      score += (weights.get(term) ?? 0) * rarity * saturated;
    }
    return score;
  });
}

/** The score that neighbouring sentences add: one that says "she" is about the person whom the one before names. */
function besideScore({ material }: Indexed, own: readonly number[], index: number): number {
  const leans = pronoun.test(material[index]?.text ?? '');
  return neighbours(material, index).reduce((sum, other) => {
    const share = leans && other < index ? antecedentShare : neighbourShare;
    return sum + (own[other] ?? 0) * share;
  }, 0);
}

function neighbours(material: readonly Sentence[], index: number): number[] {
  return [index - 1, index + 1].filter((other) => material[other]?.message === material[index]?.message);
}

/**
 * The share of the question, 0 to 1, that the sentence covers, its neighbours counting less; 0 where they only name the
 * subject and say nothing of what is asked.
 */
function covered(
  { material, found }: Indexed,
  { weights, total, ordinary }: LocalQuestion,
  index: number,
): number {
  const here = new Set(found[index]);
  const beside = new Set(neighbours(material, index).flatMap((other) => found[other] ?? []));
  if (ordinary.length > 0 && !ordinary.some((term) => here.has(term) || beside.has(term))) return 0;
  let sum = 0;
  for (const [term, weight] of weights) {
    if (here.has(term)) sum += weight;
    else if (beside.has(term)) sum += weight * nearbyWeight;
  }
  return sum / total;
}

/** The best sentence, those nearly as good that add a term or come as near, and the one before a leading pronoun. */
function pick(
  { material, found }: Indexed,
  scores: readonly number[],
  { weights }: LocalQuestion,
): Sentence[] {
  const order = scores.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const best = scores[order[0] ?? 0] ?? 0;
  if (best === 0) return [];
  const chosen: number[] = [];
  const coveredTerms = new Set<number>();
  const texts = new Set<string>();
  for (const index of order) {
    if (chosen.length === mostSentences || (scores[index] ?? 0) < best * alsoGood) break;
    const text = material[index]?.text ?? '';
    const adds = (found[index] ?? []).some((term) => weights.has(term) && !coveredTerms.has(term));
    if (texts.has(text) || (chosen.length > 0 && !adds && (scores[index] ?? 0) < best * 0.9)) continue;
    chosen.push(index);
    texts.add(text);
    for (const term of found[index] ?? []) coveredTerms.add(term);
  }
  const first = order[0] ?? 0;
  if (
    pronoun.test(material[first]?.text ?? '') &&
    neighbours(material, first).includes(first - 1) &&
    !chosen.includes(first - 1)
  )
    chosen.push(first - 1);
  return chosen.sort((a, b) => a - b).flatMap((index) => material[index] ?? []);
}

const pronoun = /^(?:he|she|it|they|his|her|its|their|this|that|these|those|er|sie|il|elle|ils|él|ella)\s/i;
