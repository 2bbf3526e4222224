/** How questions are put, and words told apart, in a language. */
export interface Language {
  readonly code: string;
  /** Asks what the text says of some of a sentence's words. */
  readonly ask: (words: readonly string[]) => string;
  /** Asks how a sentence goes that lacks a word. */
  readonly fill: (gapped: string) => string;
  /** Whether words stand without blanks between them. */
  readonly unspaced: boolean;
}

const english: Language = {
  code: 'en',
  ask: (words) => `What does it say about ${listed(words, 'and')}?`,
  fill: (gapped) => `Which word is missing in “${gapped}”?`,
  unspaced: false,
};

const languages: Readonly<Record<string, Language>> = {
  German: {
    code: 'de',
    ask: (words) => `Was steht dort über ${listed(words, 'und')}?`,
    fill: (gapped) => `Welches Wort fehlt in „${gapped}“?`,
    unspaced: false,
  },
  French: {
    code: 'fr',
    ask: (words) => `Que dit le texte sur ${listed(words, 'et')} ?`,
    fill: (gapped) => `Quel mot manque dans « ${gapped} » ?`,
    unspaced: false,
  },
  Spanish: {
    code: 'es',
    ask: (words) => `¿Qué dice el texto sobre ${listed(words, 'y')}?`,
    fill: (gapped) => `¿Qué palabra falta en «${gapped}»?`,
    unspaced: false,
  },
  Chinese: {
    code: 'zh',
    ask: (words) => `文中关于${words.join('、')}是怎么说的？`,
    fill: (gapped) => `“${gapped}”中缺少哪个词？`,
    unspaced: true,
  },
  Japanese: {
    code: 'ja',
    ask: (words) => `${words.join('、')}について何と書いてありますか。`,
    fill: (gapped) => `「${gapped}」に欠けている言葉は何ですか。`,
    unspaced: true,
  },
};

/** The language of a kind of material, by the name of the kind. */
export const languageOf = (kind: string): Language => languages[kind] ?? english;

function listed(words: readonly string[], and: string): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${and} ${words.at(-1)}`;
}

const segmenters = new Map<string, Intl.Segmenter>();

/** The words of a text in lower case: runs of letters and digits, or what `Intl.Segmenter` takes for words. */
export function wordsOf(text: string, { code, unspaced }: Language): string[] {
  if (!unspaced) return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  let segmenter = segmenters.get(code);
  if (segmenter === undefined) {
    segmenter = new Intl.Segmenter(code, { granularity: 'word' });
    segmenters.set(code, segmenter);
  }
  return [...segmenter.segment(text.toLowerCase())].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  );
}
