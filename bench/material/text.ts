import { type Language, wordsOf } from './language.ts';

/** A line or a sentence as it stands in a text, and where. */
export interface Stretch {
  readonly text: string;
  readonly at: number;
}

/** The lines of a text without blanks around them; empty ones are left out. */
export function linesOf(text: string): Stretch[] {
  return [...text.matchAll(/[^\n]+/g)].flatMap(({ 0: line, index }) => {
    const trimmed = line.trim();
    return trimmed === '' ? [] : [{ text: trimmed, at: index + line.indexOf(trimmed) }];
  });
}

const LEAST = 40;
const MOST = 420;

/** Sentences of the prose in a text, with their line breaks: no markup, no code, nothing that is mostly signs. */
export function sentencesOf(text: string, { unspaced }: Language): Stretch[] {
  const ends = unspaced ? /[^。！？]+[。！？]/g : /[^.!?]+(?:[.!?](?!\s)[^.!?]*)*[.!?]+(?=\s|$)/g;
  return [...text.matchAll(/(?:[^\n]+(?:\n(?!\s*\n))?)+/g)].flatMap(({ 0: paragraph, index }) =>
    [...paragraph.matchAll(ends)].flatMap(({ 0: raw, index: within }) => {
      const sentence = raw.trim();
      const found = { text: sentence, at: index + within + raw.indexOf(sentence) };
      return isProse(sentence, unspaced) ? [found] : [];
    }),
  );
}

function isProse(sentence: string, unspaced: boolean): boolean {
  const length = sentence.length * (unspaced ? 2 : 1);
  if (length < LEAST || length > MOST || /[<>{}|`=\\]|^[-*#>\d]|\n\s*(?:[-*o·•]|\d+\.)\s|\n\n/.test(sentence))
    return false;
  const letters = sentence.match(/[\p{L}\s]/gu)?.length ?? 0;
  return letters / sentence.length > 0.85 && (unspaced || /^[\p{Lu}"“«¿]/u.test(sentence));
}

/** Whether a stretch stands in a text just once. */
export function isUnique(stretch: string, whole: string): boolean {
  const at = whole.indexOf(stretch);
  return at >= 0 && !whole.includes(stretch, at + 1);
}

/** In how many of the units each word stands. */
export function frequencies(units: readonly Stretch[], language: Language): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of units) {
    for (const word of new Set(wordsOf(text, language))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}
