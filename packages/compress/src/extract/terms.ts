/** Words without a subject of their own. Names of months and days are kept, because questions ask for them. */
const stopWords = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can
could did do does doing don down during each few for from further had has have having he her here hers him his how i if
in into is it its just let ll me more most my no nor not now of off on once only or other our out over own re s same she
should so some such t than that the their them then there these they this those through to too under until up ve very
was we were what when where which while who whom whose why will with would you your yours tell please know get got`.split(
    /\s+/,
  ),
);

/** Irregular forms, which no rule for endings covers. */
const irregular: ReadonlyMap<string, string> = new Map(
  `went go gone go goes go bought buy sold sell ran run running run said say told tell made make took take taken take
gave give given give came come saw see seen see found find thought think felt feel left leave met meet kept keep
began begin begun begin wrote write written write spoke speak spoken speak chose choose chosen choose won win lost lose
paid pay sent send built build held hold brought bring taught teach caught catch grew grow grown grow drew draw drawn
draw knew know known know broke break broken break flew fly drove drive driven drive swam swim sang sing slept sleep
children child people person men man women woman wives wife lives life feet foot teeth tooth mice mouse
better good best good worse bad worst bad mom mother mum mother dad father kid child kids child`
    .split(/\s+/)
    .flatMap((word, i, all) => (i % 2 === 0 ? [[word, all[i + 1] ?? word] as const] : [])),
);

/** Most words whose terms are remembered; `MEMO_LENGTH` is the longest such word. */
const MEMO_WORDS = 50_000;
const MEMO_LENGTH = 64;
const memo = new Map<string, readonly string[]>();

/** Matches words, numbers and identifiers, and in scripts without spaces each character. */
const word = /[\p{L}\p{N}\p{M}]+(?:[._@:/#'’-][\p{L}\p{N}\p{M}]+)*/gu;
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const ascii = /^[\0-\x7f]*$/;

/** The terms by which texts are compared: stems of words, and identifiers both whole and in parts. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  word.lastIndex = 0;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    for (const term of termsOfWord(match[0])) terms.push(term);
  }
  return terms;
}

function termsOfWord(found: string): readonly string[] {
  const known = memo.get(found);
  if (known !== undefined) return known;
  const terms =
    !ascii.test(found) && unspaced.test(found) ? characters(found) : wordTerms(found.toLowerCase());
  if (found.length > MEMO_LENGTH) return terms;
  if (memo.size >= MEMO_WORDS) memo.clear();
  memo.set(found, terms);
  return terms;
}

/** The terms of a question that say what it is about; all of its terms if none would remain. */
export function subjectsOf(query: string): string[] {
  const all = [...new Set(termsOf(query))];
  const subjects = all.filter((term) => !stopWords.has(term));
  return subjects.length > 0 ? subjects : all;
}

export const isStopWord = (term: string): boolean => stopWords.has(term);

function wordTerms(text: string): string[] {
  const parts = text.split(/[._@:/#'’-]/);
  if (parts.length === 1) return [stem(text)];
  const whole = /['’]/.test(text) ? [] : [text];
  return [...whole, ...parts.filter((part) => part !== '').map(stem)];
}

/** Single characters and pairs of adjacent characters. */
function characters(text: string): string[] {
  const all = Array.from(text);
  return [...all, ...all.slice(1).map((character, i) => `${all[i]}${character}`)];
}

const endings: readonly (readonly [RegExp, string])[] = [
  [/(?:izations?|isations?)$/, ''],
  [/(?:ational|ations?|ators?|ating|ated?|ates)$/, ''],
  [/(?:fulness|ousness|iveness|nesses|ness)$/, ''],
  [/(?:ingly|edly|ments?|ment)$/, ''],
  [/(?:ings?|ions?|ists?|isms?|able|ible)$/, ''],
  [/(?<=.{5})ly$/, ''],
  [/(?:ies|ied|ier|iest|y)$/, 'i'],
  [/(?:ers?|ors?|ed|es|al|s|e)$/, ''],
];

/** A light English stemmer: it joins the common forms of a word, and leaves words of other languages mostly alone. */
function stem(text: string): string {
  const base = irregular.get(text);
  if (base !== undefined) return base === text ? base : stem(base);
  if (text.length < 4 || !/^[a-z]+$/.test(text) || stopWords.has(text)) return text;
  for (const [ending, replacement] of endings) {
    const match = ending.exec(text);
    if (match === null || match.index < 3) continue;
    return undoubled(text.slice(0, match.index) + replacement);
  }
  return text;
}

/** Removes what an ending left behind: `runn` becomes `run`, and `happi` the same as `happy`. */
function undoubled(text: string): string {
  const last = text.at(-1);
  if (text.length > 3 && last === text.at(-2) && last !== 's' && last !== 'l') return text.slice(0, -1);
  return last === 'i' || last === 'e' ? text.slice(0, -1) : text;
}
