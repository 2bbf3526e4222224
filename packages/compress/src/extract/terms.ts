import { functionWords, type Language, stemmers } from './language.ts';

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
const memos: Readonly<Record<Language, Map<string, readonly string[]>>> = {
  en: new Map(),
  de: new Map(),
  fr: new Map(),
  es: new Map(),
};

/** Matches words, numbers and identifiers, and in scripts without spaces each character. */
const word = /[\p{L}\p{N}\p{M}]+(?:[._@:/#'’-][\p{L}\p{N}\p{M}]+)*/gu;
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const ascii = /^[\0-\x7f]*$/;

/** The terms by which texts are compared: stems of words, and identifiers both whole and in parts. */
export function termsOf(text: string, language: Language = 'en'): string[] {
  const terms: string[] = [];
  word.lastIndex = 0;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    for (const term of termsOfWord(match[0], language)) terms.push(term);
  }
  return terms;
}

function termsOfWord(found: string, language: Language): readonly string[] {
  const memo = memos[language];
  const known = memo.get(found);
  if (known !== undefined) return known;
  const terms =
    !ascii.test(found) && unspaced.test(found) ? characters(found) : wordTerms(found.toLowerCase(), language);
  if (found.length > MEMO_LENGTH) return terms;
  if (memo.size >= MEMO_WORDS) memo.clear();
  memo.set(found, terms);
  return terms;
}

/** The terms of a question that say what it is about; all of its terms if none would remain. */
export function subjectsOf(query: string, language: Language = 'en'): string[] {
  const all = [...new Set(termsOf(query, language))];
  const subjects = all.filter((term) => !isStopWord(term, language));
  return subjects.length > 0 ? subjects : all;
}

/** Pairs of characters that ask and join in Chinese and Japanese. */
const joiningPairs =
  `关于 什么 怎么 怎样 哪里 哪个 哪些 多少 为什 是什 是怎 么说 说的 请问 如何 可以 这个 那个 關於 什麼 怎麼 つい いて えて てく くだ ださ さい
です ます すか ませ せん した して する され れる れた てい いる いま ある どこ どの どう なに いつ だれ とは では には から まで など この その これ それ あり りま ので のか こと`.split(
    /\s+/,
  );

const withPairs = (language: Language): ReadonlySet<string> =>
  new Set([...functionWords[language], ...joiningPairs]);
const stopWords = { en: withPairs('en'), de: withPairs('de'), fr: withPairs('fr'), es: withPairs('es') };

export const isStopWord = (term: string, language: Language = 'en'): boolean => stopWords[language].has(term);

function wordTerms(text: string, language: Language): string[] {
  const stemmed = (part: string): string => (language === 'en' ? stem(part) : stemIn(language, part));
  const parts = text.split(/[._@:/#'’-]/);
  if (parts.length === 1) return [stemmed(text)];
  const whole = /['’]/.test(text) ? [] : [text];
  return [...whole, ...parts.filter((part) => part !== '').map(stemmed)];
}

/** Matches the runs of one script in a stretch without spaces. */
const runs =
  /[\p{Script=Han}々]+|[\p{Script=Katakana}ー]+|\p{Script=Hiragana}+|[^\p{Script=Han}々\p{Script=Katakana}ー\p{Script=Hiragana}]+/gu;

/**
 * The terms of a stretch without spaces: of each run of one script its pairs of adjacent characters, and the whole run where it
 * is written in katakana, which is mostly one word. Hiragana, which mostly inflects and joins, has pairs only where it is
 * long enough for a word. Unlike a dictionary's words, these are the same in every engine.
 */
function characters(text: string): string[] {
  return (text.match(runs) ?? []).flatMap((run) => {
    const all = Array.from(run);
    const pairs = all.slice(1).map((character, i) => `${all[i]}${character}`);
    if (/^\p{Script=Hiragana}/u.test(run)) return pairs;
    if (/^[\p{Script=Katakana}ー]/u.test(run)) return [run, ...pairs];
    return all.length === 1 ? all : pairs;
  });
}

function stemIn(language: keyof typeof stemmers, text: string): string {
  return functionWords[language].has(text) ? text : stemmers[language](text);
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
  if (text.length < 4 || !/^[a-z]+$/.test(text) || functionWords.en.has(text)) return text;
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
