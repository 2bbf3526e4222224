import { DIGIT, IDEOGRAPH, kindOf, LETTER } from './characters.ts';
import { termOf } from './vocabulary.ts';

/** Numbers the terms of one call: equal terms get equal numbers. */
export class Terms {
  readonly #ofWord = new Map<string, number>();
  readonly #ofTerm = new Map<string, number>();

  /** Number of different terms so far. */
  get size(): number {
    return this.#ofTerm.size;
  }

  /** The terms of `text` from `start` to `end` (half-open), in order, without stop words. */
  read(text: string, start: number, end: number): number[] {
    const found: number[] = [];
    let at = start;
    while (at < end) {
      const kind = kindOf(text.charCodeAt(at));
      if (kind === 0) {
        at++;
      } else if (kind === IDEOGRAPH) {
        const to = endOfIdeographs(text, at, end);
        this.#pairs(text, at, to, found);
        at = to;
      } else {
        const to = endOfWord(text, at, end);
        const number = this.#number(text.slice(at, to));
        if (number >= 0) found.push(number);
        at = to;
      }
    }
    return found;
  }

  /** Text in a script without spaces is compared by pairs of characters. */
  #pairs(text: string, start: number, end: number, found: number[]): void {
    if (end - start === 1) {
      found.push(this.#intern(text.slice(start, end)));
      return;
    }
    for (let at = start; at + 1 < end; at++) {
      const pair = text.slice(at, at + 2);
      if (!emptyPairs.has(pair)) found.push(this.#intern(pair));
    }
  }

  #number(word: string): number {
    const known = this.#ofWord.get(word);
    if (known !== undefined) return known;
    const term = termOf(kindOf(word.charCodeAt(0)) === DIGIT ? word.replaceAll(',', '') : word);
    const number = term === null ? -1 : this.#intern(term);
    this.#ofWord.set(word, number);
    return number;
  }

  #intern(term: string): number {
    const known = this.#ofTerm.get(term);
    if (known !== undefined) return known;
    const number = this.#ofTerm.size;
    this.#ofTerm.set(term, number);
    return number;
  }
}

const emptyPairs = new Set(
  `什么 时候 多少 哪里 哪个 为什 怎么 是谁 谁是 的是 是什 么时 了吗 吗 何時 いつ どこ どれ だれ なぜ です ます した ました でし たか すか ですか
  ください して いる ある これ それ 언제 어디 누구 얼마 무엇 입니 니까 습니 니다 었습 했습`.split(/\s+/),
);

/** A word includes its digits; a number includes its points and commas. */
function endOfWord(text: string, start: number, end: number): number {
  const number = kindOf(text.charCodeAt(start)) === DIGIT;
  let at = start + 1;
  while (at < end) {
    const kind = kindOf(text.charCodeAt(at));
    if (kind === LETTER || kind === DIGIT) at++;
    else if (
      number &&
      isPoint(text.charCodeAt(at)) &&
      at + 1 < end &&
      kindOf(text.charCodeAt(at + 1)) === DIGIT
    )
      at += 2;
    else break;
  }
  return at;
}

function endOfIdeographs(text: string, start: number, end: number): number {
  let at = start + 1;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (kindOf(code) !== IDEOGRAPH && !(code >= 0xdc00 && code < 0xe000)) break;
    at++;
  }
  return at;
}

function isPoint(code: number): boolean {
  return code === 46 || code === 44;
}
