import type { Model } from '../catalogue/catalogue.ts';
import { objectsOf } from '../providers/members.ts';
import type { Provider } from '../providers/provider.ts';
import { countTokens } from '../tokens.ts';
import type { ChatBody } from '../types.ts';
import { type Prompt, templateBound } from './token-bound.ts';

/** No fewer than the tokens of a prompt are, but for what tokenizers differ by. */
export async function countPrompt(prompt: Prompt, tokenizer: Model['tokenizer']): Promise<number> {
  const { texts, reasoning = [], extraTokens } = prompt;
  return extraTokens + (await countTokens([...texts, ...reasoning], tokenizer));
}

/** About how many tokens the provider will count: where its template is known, nearer than `countPrompt`. */
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
