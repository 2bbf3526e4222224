import type { Model } from '../catalogue/catalogue.ts';
import { countTokens } from '../tokens.ts';
import type { Prompt } from './token-bound.ts';

export async function countPrompt(prompt: Prompt, tokenizer: Model['tokenizer']): Promise<number> {
  return prompt.extraTokens + (await countTokens(prompt.texts, tokenizer));
}
