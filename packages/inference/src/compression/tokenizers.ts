import { type Tokenizer, tokenizerFor } from '@tallystick/compress';

/** Most callers whose token counts are cached: the same blocks come again in the next call. */
const MAX_TOKENIZERS = 4;

const tokenizers = new Map<string, Tokenizer>();

/** The tokenizer of an encoding, with the counts that are cached for an account. */
export function tokenizerOf(account: string, encoding: string): Tokenizer {
  const key = JSON.stringify([account, encoding]);
  const found = tokenizers.get(key) ?? tokenizerFor(encoding);
  tokenizers.delete(key);
  tokenizers.set(key, found);
  const [oldest] = tokenizers.keys();
  if (tokenizers.size > MAX_TOKENIZERS && oldest !== undefined) tokenizers.delete(oldest);
  return found;
}
