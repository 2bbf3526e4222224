import { type Scan, scan } from './characters.ts';
import { CUE_GROUPS, type CueGroup } from './cues.ts';
import { countWords, type WordCounts } from './lexicon.ts';

const COUNTS = [
  'size',
  'material',
  'sentences',
  'words_per_sentence',
  'parts',
  'long_words',
  'rare_words',
  'word_length',
  'numbers',
  'digits',
  'symbols',
] as const;

/** What a prompt asks for, whatever it is about: logarithms of counts in the request, without the material for it. */
export const DEMANDS: readonly (CueGroup | (typeof COUNTS)[number])[] = [...COUNTS, ...CUE_GROUPS];

const LONG_WORD = 8;
/** So many letters of another script count as a word that is not common. */
const FOREIGN_WORD = 3;
/** Quoted passages and fenced blocks. */
const QUOTED = /"[^"]{30,}"|“[^“”]{30,}”|„[^„“]{30,}“|```[\s\S]*?(?:```|$)/g;
const MARKS = ['"', '“', '„', '```'];
/** An opening or closing paragraph of fewer words is taken for a request. */
const SHORT_PARAGRAPH = 40;
const IMPERATIVE =
  /(?:^|[.!?:]\s+)(?:please |then )?(?:analy[sz]e|answer|calculate|check|classify|compare|complete|compute|convert|correct|create|decide|derive|describe|design|discuss|edit|evaluate|explain|extract|find|fix|generate|give|identify|implement|list|make|outline|plan|produce|prove|reconstruct|review|rewrite|show|solve|suggest|summari[sz]e|translate|turn|work out|write)\b/i;

/**
 * Reads the demands of a prompt, in the order of `DEMANDS`. Pure; takes time linear in the text.
 * @param whole scan of the text
 * @param wholeCounts of its words
 */
export function readDemands(text: string, whole: Scan, wholeCounts: WordCounts): number[] {
  const request = requestIn(text);
  if (request === text) return ofRequest(text, whole, wholeCounts, 0);
  const scanned = scan(request);
  return ofRequest(request, scanned, countWords(scanned.words), text.length - request.length);
}

function ofRequest(request: string, scanned: Scan, { cues, rare }: WordCounts, material: number): number[] {
  const { words, sentences, symbols } = scanned;
  let letters = 0;
  let long = 0;
  for (const word of words) {
    letters += word.length;
    if (word.length >= LONG_WORD) long++;
  }
  return [
    Math.log1p(request.length + scanned.foreign),
    Math.log1p(material),
    Math.log1p(sentences),
    Math.log1p(words.length / (sentences + 1)),
    Math.log1p(symbols.comma + symbols.semicolon + symbols.dash + symbols.parenthesis),
    Math.log1p(long),
    Math.log1p(rare + scanned.foreign / FOREIGN_WORD),
    letters / (words.length + 4),
    Math.log1p(scanned.numbers),
    Math.log1p(scanned.digits - scanned.numbers),
    Math.log1p(symbols.equals + symbols.caret + symbols.operator + symbols.logic),
    ...cues.map((count) => Math.log1p(count)),
  ];
}

/** The prompt without quoted passages, blocks of code, and paragraphs that ask nothing; all of it where none asks. */
function requestIn(text: string): string {
  const unquoted = MARKS.some((mark) => text.includes(mark)) ? text.replace(QUOTED, ' ') : text;
  if (unquoted.indexOf('\n') === unquoted.lastIndexOf('\n')) return unquoted;
  const paragraphs = unquoted.split(/\n\s*\n/);
  if (paragraphs.length === 1) return unquoted;
  const asking = paragraphs.filter((paragraph, index) =>
    asks(paragraph, index === 0 || index === paragraphs.length - 1),
  );
  return asking.length === 0 ? unquoted : asking.join('\n');
}

function asks(paragraph: string, outer: boolean): boolean {
  if (paragraph.includes('?')) return true;
  return (
    outer && (paragraph.split(/\s+/, SHORT_PARAGRAPH).length < SHORT_PARAGRAPH || IMPERATIVE.test(paragraph))
  );
}
