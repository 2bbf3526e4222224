import { BUDGETS, type Case, checked, type Document, fetched } from '../quality/document.ts';
import { Random } from '../quality/random.ts';
import type { MaterialFile } from './files.ts';
import { headingAt, headingsOf } from './headings.ts';
import { type Language, languageOf, wordsOf } from './language.ts';
import {
  type Asked,
  cellQuestions,
  functionQuestions,
  memberQuestions,
  releaseQuestions,
  settingQuestions,
} from './structured.ts';
import { frequencies, isUnique, linesOf, type Stretch, sentencesOf } from './text.ts';

/** Ways in which questions are made. */
type Rule =
  | 'line'
  | 'sentence'
  | 'gap'
  | 'heading'
  | 'two places'
  | 'cell'
  | 'member'
  | 'setting'
  | 'function'
  | 'release';

/** Largest number of questions that a rule asks of a file. */
const MOST = 4;

type Maker = (file: MaterialFile, language: Language, random: Random) => Asked[];

const makers: Readonly<Record<Rule, Maker>> = {
  line: ({ text }, language) => lineQuestions(linesOf(text), text, language),
  sentence: ({ text }, language, random) =>
    wordQuestions(sentencesOf(text, language), text, language, random),
  gap: ({ text }, language) => gapQuestions(sentencesOf(text, language), text, language),
  heading: ({ kind, text }) => headingQuestions(headingsOf(kind, text), text),
  'two places': ({ text }, language) => {
    const sentences = sentencesOf(text, language);
    return placeQuestions(sentences.length > 20 ? sentences : linesOf(text), text, language);
  },
  cell: ({ text }) => cellQuestions(text),
  member: ({ text }) => memberQuestions(text),
  setting: ({ text }) => settingQuestions(text),
  function: ({ text }) => functionQuestions(text),
  release: ({ text }) => releaseQuestions(text),
};

const prose: readonly Rule[] = ['sentence', 'gap', 'heading', 'two places'];
const lines: readonly Rule[] = ['line', 'two places'];

const rules: Readonly<Record<string, readonly Rule[]>> = {
  YAML: ['setting'],
  'INI and key-value': lines,
  logs: lines,
  'test output': lines,
  listings: lines,
  CSV: ['cell'],
  'JSON API answers': ['member'],
  code: ['function'],
  XML: lines,
  HTML: ['sentence', 'line', 'two places'],
  'SQL results': lines,
  'stack traces': lines,
  'transcripts and sessions': lines,
  changelogs: ['release', 'line', 'two places'],
  '.env files': lines,
  'numbered steps': prose,
  'kubectl output': lines,
};

/** A file as a tool would return it, with the questions that the rules of its kind make. */
export function documentOf(file: MaterialFile): Document {
  const { path, kind, source, text } = file;
  const language = languageOf(kind);
  const headings = headingsOf(kind, text);
  const cases = (rules[kind] ?? prose).flatMap((rule) => {
    const random = new Random(`${path} ${rule}`);
    const made = random.shuffled(makers[rule](file, language, random)).slice(0, MOST);
    return made.map(({ question, gold, at }, i): Case => {
      const heading = at === undefined ? undefined : headingAt(headings, at);
      const labelled = heading !== undefined && rule !== 'heading' && rule !== 'two places';
      return {
        id: `${path}#${rule} ${i + 1}`,
        kind: rule,
        question,
        wording: 'plain',
        source,
        gold: labelled ? gold.map((one) => ({ ...one, heading })) : gold,
        ...(labelled && { labelled }),
      };
    });
  });
  return checked({
    id: path,
    modality: kind,
    messages: fetched('read', [text]),
    cases,
    budgets: BUDGETS,
    headings: headings.map((heading) => heading.text),
    ...(kind === 'code' && { options: { code: true } }),
  });
}

const TOKEN = /[\p{L}_][\p{L}\p{N}_./:@-]{3,}/gu;
const LONGEST = 300;

/** Asks for a line by the first of its names that stands in no other line. */
function lineQuestions(all: readonly Stretch[], text: string, language: Language): Asked[] {
  const namesOf = (line: string): string[] =>
    (line.match(TOKEN) ?? []).map((name) => name.replace(/[.:/-]+$/, ''));
  const counts = new Map<string, number>();
  for (const { text: line } of all)
    for (const name of new Set(namesOf(line))) counts.set(name, (counts.get(name) ?? 0) + 1);
  return all.flatMap(({ text: line, at }): Asked[] => {
    const names = namesOf(line).filter((one) => counts.get(one) === 1 && isUnique(one, text));
    const name = names.find((one) => /[^\p{Ll}]/u.test(one)) ?? names[0];
    if (name === undefined || line.length < name.length + 4 || line.length > LONGEST || !isUnique(line, text))
      return [];
    return [{ question: language.ask([name]), gold: [{ text: line }], at }];
  });
}

const WORDS = 3;

/** Asks for a sentence by three of its rarer words. */
function wordQuestions(all: readonly Stretch[], text: string, language: Language, random: Random): Asked[] {
  const counts = frequencies(all, language);
  const least = language.unspaced ? 2 : 4;
  return all.flatMap(({ text: sentence, at }): Asked[] => {
    const rare = [...new Set(wordsOf(sentence, language))]
      .filter((word) => word.length >= least && /\p{L}/u.test(word))
      .toSorted((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0))
      .slice(0, WORDS * 2);
    if (rare.length < WORDS || !isUnique(sentence, text)) return [];
    return [
      { question: language.ask(random.shuffled(rare).slice(0, WORDS)), gold: [{ text: sentence }], at },
    ];
  });
}

/** Words on each side of a gap. */
const AROUND = 4;

/** Asks for the longest word of a sentence by the words around it. */
function gapQuestions(all: readonly Stretch[], text: string, language: Language): Asked[] {
  return all.flatMap(({ text: sentence, at }): Asked[] => {
    const words = language.unspaced ? Array.from(sentence.replaceAll(/\s+/g, '')) : sentence.split(/\s+/);
    const around = language.unspaced ? AROUND * 2 : AROUND;
    const gap = words.reduce((most, word, i) => (word.length > (words[most]?.length ?? 0) ? i : most), 0);
    if (words.length < around * 2 || !isUnique(sentence, text)) return [];
    const shown = words.map((word, i) => (i === gap ? '____' : word));
    const gapped = shown
      .slice(Math.max(0, gap - around), gap + around + 1)
      .join(language.unspaced ? '' : ' ');
    return [{ question: language.fill(gapped), gold: [{ text: sentence }], at }];
  });
}

/** Asks what stands under a heading: the heading itself and the first line below it must be kept. */
function headingQuestions(headings: readonly Stretch[], text: string): Asked[] {
  const all = linesOf(text);
  return headings.flatMap(({ text: heading, at }): Asked[] => {
    const below = all.find((line) => line.at > at + heading.length && /\p{L}{3}/u.test(line.text));
    if (below === undefined || headings.some((one) => one.at === below.at) || !isUnique(below.text, text))
      return [];
    const name = heading.replace(/^#+ /, '');
    return [{ question: `What stands under “${name}”?`, gold: [{ text: heading }, { text: below.text }] }];
  });
}

/** Number of lines or sentences that lie between two places at least. */
const APART = 3;

/** Asks for two places at once by a word that stands in these two and in no other. */
function placeQuestions(all: readonly Stretch[], text: string, language: Language): Asked[] {
  const places = new Map<string, number[]>();
  for (const [i, { text: one }] of all.entries()) {
    for (const word of new Set(wordsOf(one, language))) places.set(word, [...(places.get(word) ?? []), i]);
  }
  return [...places].flatMap(([word, [a = 0, b = 0, ...more]]): Asked[] => {
    const [one, other] = [all[a], all[b]];
    const named = language.unspaced ? word.length > 1 : word.length > 6 && /\p{L}{4}/u.test(word);
    if (!named || more.length > 0 || b - a <= APART || one === undefined || other === undefined) return [];
    if ([one, other].some((place) => place.text.length > LONGEST || !isUnique(place.text, text))) return [];
    return [{ question: language.ask([word]), gold: [{ text: one.text }, { text: other.text }] }];
  });
}
