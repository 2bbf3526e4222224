import { setImmediate, setTimeout } from 'node:timers/promises';
import { tokenCounter } from '@tallystick/compress';
import type { Model } from './catalogue/catalogue.ts';

type Encoding = Exclude<Model['tokenizer'], 'estimate'>;
type Count = (text: string) => number;

const loaded = new Map<Encoding, Promise<Count>>();

/** Merging takes quadratic time in a word's length, so words are cut; each cut adds at most one token. */
const WINDOW = 1_024;
const LONGEST_WORD = 128;
/** Characters that are counted before the event loop gets its turn. */
const TURN = 65_536;

/**
 * Makes a token counter for short texts; if the model's tokenizer is not public, it counts as o200k. The vocabularies
 * take tens of megabytes, so each is read when it is first needed.
 */
export function counterOf(tokenizer: Model['tokenizer']): Promise<Count> {
  const encoding = tokenizer === 'estimate' ? 'o200k' : tokenizer;
  const known = loaded.get(encoding) ?? load(encoding);
  loaded.set(encoding, known);
  return known;
}

async function load(encoding: Encoding): Promise<Count> {
  // Reading a vocabulary blocks everything for a moment. The end of the provider's call, which may be the reason for
  // counting, is sent before.
  await setTimeout(10);
  return tokenCounter(`${encoding}_base`);
}

/** Counts the tokens of texts of any length, as `counterOf` does. */
export async function countTokens(texts: readonly string[], tokenizer: Model['tokenizer']): Promise<number> {
  return countPieces(
    texts.flatMap((text) => [...piecesOf(text)]),
    tokenizer,
  );
}

async function countPieces(pieces: readonly string[], tokenizer: Model['tokenizer']): Promise<number> {
  const count = await counterOf(tokenizer);
  let tokens = 0;
  let sinceTurn = 0;
  for (const piece of pieces) {
    tokens += count(piece);
    sinceTurn += piece.length;
    if (sinceTurn < TURN) continue;
    sinceTurn = 0;
    await setImmediate();
  }
  return tokens;
}

/** Characters that are held before they are counted. */
const HELD = 65_536;

/**
 * Counts the tokens of one text that comes in pieces, as `countTokens` counts the whole. It holds a bounded part if
 * `settle` is called whenever `isFull`. Before that, nothing is counted and no vocabulary is read.
 */
export class TokenTally {
  readonly #tokenizer: Model['tokenizer'];
  #held: string[] = [];
  #length = 0;
  #tokens = 0;
  #hard = 0;
  #bytes = 0;

  constructor(tokenizer: Model['tokenizer']) {
    this.#tokenizer = tokenizer;
  }

  add(text: string): void {
    this.#held.push(text);
    this.#length += text.length;
    this.#bytes += Buffer.byteLength(text);
  }

  /** Length of all text so far, in UTF-8 bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#length > HELD;
  }

  /** Counts the held text except its last piece, which more text may continue. */
  async settle(): Promise<void> {
    const pieces = [...piecesOf(this.#held.join(''))];
    const last = pieces.pop() ?? '';
    this.#held = [last];
    this.#length = last.length;
    for (const piece of pieces) this.#hard += hardTokens(piece);
    this.#tokens += await countPieces(pieces, this.#tokenizer);
  }

  /** See `hardTokens`, of all text so far. */
  async hard(): Promise<number> {
    await this.settle();
    return this.#held.reduce((sum, text) => sum + hardTokens(text), this.#hard);
  }

  /** The tokens of all text so far. */
  async tokens(): Promise<number> {
    await this.settle();
    return this.#tokens + (await countPieces(this.#held, this.#tokenizer));
  }
}

/** Number of digits and of bytes beyond ASCII in a text: each is a token to some tokenizers, while others combine several. */
export function hardTokens(text: string): number {
  let simple = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80 && !(unit >= 0x30 && unit <= 0x39)) simple += 1;
  }
  return Buffer.byteLength(text) - simple;
}

/** Cuts before a space if there is one. */
function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = start + WINDOW;
    if (end < text.length) {
      const space = text.lastIndexOf(' ', end);
      end = space > start ? space : start + LONGEST_WORD;
    }
    yield text.slice(start, end);
    start = end;
  }
}
