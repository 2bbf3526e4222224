/** Counts of a text's characters and words. */
export interface Scan {
  readonly words: readonly string[];
  readonly capitalised: number;
  readonly allCapitals: number;
  readonly singleLetters: number;
  readonly digits: number;
  readonly numbers: number;
  readonly sentences: number;
  /** Letters of other scripts than Latin. */
  readonly foreign: number;
  readonly symbols: Readonly<Record<SymbolClass, number>>;
}

const CLASSES = {
  equals: '=',
  caret: '^',
  operator: '+*/<>−×÷',
  parenthesis: '(',
  bracket: '[]{}',
  logic: '∀∃⊃∨∧•≡→~·¬',
  quote: '"“”',
  comma: ',',
  semicolon: ';',
  dash: '—–',
  percent: '%',
  dollar: '$',
  backslash: '\\',
} as const;

export type SymbolClass = keyof typeof CLASSES;

const SYMBOLS: ReadonlyMap<number, SymbolClass> = new Map(
  Object.entries(CLASSES).flatMap(([name, characters]) =>
    Array.from(characters, (character) => [character.charCodeAt(0), name as SymbolClass] as const),
  ),
);

const NO_SYMBOLS = Object.fromEntries(Object.keys(CLASSES).map((name) => [name, 0])) as Record<
  SymbolClass,
  number
>;

const SPACE = 32;
const WORD = 1;
const DIGIT = 2;
const KIND = new Uint8Array(128);
for (let code = 0; code < 26; code++) KIND[65 + code] = KIND[97 + code] = WORD;
for (let code = 48; code < 58; code++) KIND[code] = DIGIT;

/** One pass over a text: its words, in lower case and ASCII letters only, and counts of its other characters. */
export function scan(text: string): Scan {
  const words: string[] = [];
  const symbols = { ...NO_SYMBOLS };
  const counts = {
    capitalised: 0,
    allCapitals: 0,
    singleLetters: 0,
    digits: 0,
    numbers: 0,
    sentences: 0,
    foreign: 0,
  };
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === SPACE) {
      at++;
      continue;
    }
    const kind = kindOf(code);
    if (kind === 0) {
      const symbol = SYMBOLS.get(code);
      if (symbol !== undefined) symbols[symbol]++;
      else if (isForeign(code)) counts.foreign++;
      else if (isStop(code) && !(text.charCodeAt(at + 1) > 32)) counts.sentences++;
      at++;
      continue;
    }
    const end = endOfRun(text, at, kind);
    if (kind === DIGIT) {
      counts.digits += end - at;
      counts.numbers++;
    } else {
      const word = text.slice(at, end);
      words.push(word.toLowerCase());
      if (end - at === 1) counts.singleLetters += isPronounOrArticle(code) ? 0 : 1;
      else if (code < 97) counts[text.charCodeAt(at + 1) < 97 ? 'allCapitals' : 'capitalised']++;
    }
    at = end;
  }
  return { words, symbols, ...counts };
}

function endOfRun(text: string, start: number, kind: number): number {
  let end = start + 1;
  while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end++;
  return end;
}

function kindOf(code: number): number {
  return code < 128 ? (KIND[code] ?? 0) : 0;
}

/** A letter from Greek on, up to the syllables of Korean, but no general punctuation or symbol. */
function isForeign(code: number): boolean {
  return code >= 0x370 && code <= 0xd7a3 && !(code >= 0x2000 && code < 0x2e80);
}

/** `.`, `!` or `?`. */
function isStop(code: number): boolean {
  return code === 46 || code === 33 || code === 63;
}

/** `A`, `I`, `a` or `i`. */
function isPronounOrArticle(code: number): boolean {
  return code === 65 || code === 73 || code === 97 || code === 105;
}
