import { Encoding, type EncodingName } from './encoding.ts';
import { cl100kRules, o200kRules } from './split.ts';

const o200k = new Encoding('o200k_base', o200kRules);
const cl100k = new Encoding('cl100k_base', cl100kRules);

/** Most characters of counted blocks that are remembered. */
const REMEMBERED = 16_000_000;

/** Counts tokens, and says how exact the count is. */
export interface Tokenizer {
  /** Name used in the account: the encoding, followed by ` (estimate)` if the model's own encoding is not known. */
  readonly name: string;
  readonly estimate: boolean;
  /** Number of tokens in `text`; each distinct text is counted once. */
  count(text: string): number;
  /** Tokens by the spans that end at `ends` (UTF-16 units); their sum is the count of the text. */
  countSpans(text: string, ends: readonly number[]): readonly number[];
}

/**
 * The tokenizer of a model by its name, with or without a provider before it (`openai/gpt-4o`). A model whose encoding
 * is not public, or not known here, is estimated with `o200k_base`. Without a model it is `o200k_base`, not an estimate.
 * Keep it for as long as the same blocks come again, and use it for one caller only.
 */
export function tokenizerFor(model?: string): Tokenizer {
  const encoding = encodingOf(model);
  const used = encoding ?? o200k;
  const counts = new Map<string, number>();
  let remembered = 0;
  const remember = (text: string, tokens: number): number => {
    remembered += text.length;
    if (remembered > REMEMBERED) {
      counts.clear();
      remembered = text.length;
    }
    counts.set(text, tokens);
    return tokens;
  };
  return {
    name: encoding === undefined ? `${used.name} (estimate)` : used.name,
    estimate: encoding === undefined,
    count: (text) => counts.get(text) ?? remember(text, used.count(text)),
    countSpans(text, ends) {
      const spans = used.countSpans(text, ends);
      remember(
        text,
        spans.reduce((sum, tokens) => sum + tokens, 0),
      );
      return spans;
    },
  };
}

/** Counts the tokens of an encoding, and remembers no text. The vocabulary is read at once, which takes some 50 ms. */
export function tokenCounter(name: EncodingName): (text: string) => number {
  const encoding = name === 'o200k_base' ? o200k : cl100k;
  encoding.count(' ');
  return (text) => encoding.count(text);
}

function encodingOf(model: string | undefined): Encoding | undefined {
  if (model === undefined || model === o200k.name) return o200k;
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  if (/^(gpt-4o|gpt-4\.[1-9]|gpt-[5-9]|gpt-oss|chatgpt-|o[1-9]\b)/.test(name)) return o200k;
  if (name === cl100k.name || /^(gpt-4|gpt-3\.5|gpt-35|text-embedding-(3|ada-002))/.test(name)) return cl100k;
  return undefined;
}
