import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Model } from './catalogue/catalogue.ts';

type Encoding = Exclude<Model['tokenizer'], 'estimate'>;
type Count = (text: string) => number;

const loaded = new Map<Encoding, Promise<Count>>();

/** Merging takes the square of a word's length, so words are cut; each cut adds a token at most. */
const WINDOW = 1_024;
const LONGEST_WORD = 128;
/** Characters between two turns of the event loop. */
const TURN = 65_536;

/**
 * Counts the tokens of a short text; of a model whose tokenizer is not public, as o200k. The vocabularies take tens of
 * megabytes, so each is read when it is first needed.
 */
export function counterOf(tokenizer: Model['tokenizer']): Promise<Count> {
  const encoding = tokenizer === 'estimate' ? 'o200k' : tokenizer;
  const known = loaded.get(encoding) ?? load(encoding);
  loaded.set(encoding, known);
  return known;
}

async function load(encoding: Encoding): Promise<Count> {
  // Reading one holds everything up for a fifth of a second. The end of a call upstream, which may be why tokens are
  // counted at all, goes out before.
  await setTimeout(10);
  const { countTokens } =
    encoding === 'o200k'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base');
  // A special token in a text of the caller is text.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}

/** The tokens of texts of any length, as `counterOf` counts them. */
export async function countTokens(texts: readonly string[], tokenizer: Model['tokenizer']): Promise<number> {
  const count = await counterOf(tokenizer);
  let tokens = 0;
  let sinceTurn = 0;
  for (const text of texts) {
    for (const piece of piecesOf(text)) {
      tokens += count(piece);
      sinceTurn += piece.length;
      if (sinceTurn < TURN) continue;
      sinceTurn = 0;
      await setImmediate();
    }
  }
  return tokens;
}

/** Cut before a space where there is one. */
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
