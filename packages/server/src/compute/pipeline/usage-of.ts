import type { Model } from '../catalogue/catalogue.ts';
import { countTokens } from '../tokens.ts';
import type { Usage } from '../types.ts';
import type { Prompt } from './token-bound.ts';
import { countPrompt } from './token-count.ts';

/**
 * What the provider counted, else what is counted here: of the answer, only what was delivered.
 * @param delivered the text of the answer so far; not asked for where the provider counted
 */
export async function usageOf(
  reported: Usage | null,
  { model, prompt, delivered }: { model: Model; prompt: Prompt; delivered: () => string },
): Promise<Usage> {
  if (reported !== null) return reported;
  const { tokenizer } = model;
  return {
    promptTokens: await countPrompt(prompt, tokenizer),
    completionTokens: await countTokens([delivered()], tokenizer),
    cachedTokens: 0,
    estimated: true,
  };
}
