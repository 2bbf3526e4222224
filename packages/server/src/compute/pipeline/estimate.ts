import type { JsonObject } from '@tallystick/core';
import { money, priceDocument } from '../billing.ts';
import { ceilingOf, maxOutputOf } from './admit.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';
import { routeChat } from './route.ts';
import { countPrompt } from './token-count.ts';

/**
 * Where a chat call would go and what it could cost. Nothing is called and nothing put aside. Throws as routing does.
 * @param account whose session it is
 */
export async function estimateChat(
  context: PipelineContext,
  request: ChatRequest,
  account: string,
): Promise<JsonObject> {
  const { decision, prompt } = await routeChat(context, request, account);
  const { model } = decision;
  const promptTokens = await countPrompt(prompt, model.tokenizer);
  const maxOutput = maxOutputOf(context, request, model) * request.choices;
  return {
    model: model.id,
    tokens: {
      prompt: promptTokens,
      max_completion: maxOutput,
      counted_with:
        model.tokenizer === 'estimate' ? 'o200k, which the model’s own may differ from' : model.tokenizer,
    },
    price_per_million_tokens: priceDocument(model.price),
    // At least the prompt, at most the longest answer too.
    cost: {
      asset: 'USDC',
      min: money(ceilingOf(model, promptTokens, 0)),
      max: money(ceilingOf(model, promptTokens, maxOutput)),
    },
    routing: decision.explanation,
  };
}
