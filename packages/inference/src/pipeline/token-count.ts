import type { Model } from '../catalogue/catalogue.ts';
import { objectsOf } from '../providers/members.ts';
import type { Provider } from '../providers/provider.ts';
import { countTokens } from '../tokens.ts';
import type { ChatBody } from '../types.ts';
import { type Prompt, templateBound } from './token-bound.ts';

/** An upper bound of a prompt's tokens, except for differences between tokenizers. */
export async function countPrompt(prompt: Prompt, tokenizer: Model['tokenizer']): Promise<number> {
  const { texts, reasoning = [], extraTokens } = prompt;
  return extraTokens + (await countTokens([...texts, ...reasoning], tokenizer));
}

/** The approximate number of tokens that the provider will count; nearer than `countPrompt` if its template is known. */
export async function expectPrompt(
  { body, prompt }: { readonly body: ChatBody; readonly prompt: Prompt },
  tokenizer: Model['tokenizer'],
  provider: Pick<Provider, 'templateTokens'> | undefined,
): Promise<number> {
  const counted = await countPrompt(prompt, tokenizer);
  const messages = objectsOf(body['messages']);
  const instructions = messages.filter(({ role }) => role === 'system' || role === 'developer').length;
  const template = provider?.templateTokens({ messages: messages.length, instructions });
  return template === undefined ? counted : counted - templateBound(messages.length) + template;
}
