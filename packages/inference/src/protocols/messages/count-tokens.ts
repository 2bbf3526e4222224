import { type JsonObject, TallyError } from '@tallystick/core';
import type { Model } from '../../catalogue/catalogue.ts';
import { readChatRequest } from '../../pipeline/chat-request.ts';
import type { PipelineContext } from '../../pipeline/context.ts';
import type { RoutedPayer } from '../../pipeline/key-routing.ts';
import { routeChat } from '../../pipeline/route.ts';
import { promptOf } from '../../pipeline/token-bound.ts';
import { expectPrompt } from '../../pipeline/token-count.ts';
import { asText } from '../../providers/members.ts';
import { AUTO } from '../../router/auto.ts';
import { innerOf } from './inner.ts';
import { messages } from './messages.ts';

type Payer = RoutedPayer & { readonly name: string };

/**
 * Counts the tokens of a prompt as it came, uncompressed, by the tokenizer of the model that it names, or else of the one
 * that a call would be routed to now.
 * @throws model_not_found
 */
export async function countMessageTokens(
  context: PipelineContext,
  request: JsonObject,
  payer: Payer,
): Promise<number> {
  const { catalogue, providers } = context;
  const name = asText(request['model']) ?? AUTO;
  const model = name === AUTO ? await routedModel(context, request, payer) : catalogue.find(name);
  if (model === null && name !== AUTO)
    throw new TallyError(
      'model_not_found',
      `There is no model “${name.slice(0, 80)}”. GET /v1/compute/models lists them.`,
      { field: 'model' },
    );
  const body = innerOf(request);
  const provider = model === null ? undefined : providers.get(model.provider);
  return expectPrompt({ body, prompt: promptOf(body) }, model?.tokenizer ?? 'estimate', provider);
}

/** The model that a call without further wishes would be routed to; null where none can take it. */
async function routedModel(
  context: PipelineContext,
  request: JsonObject,
  payer: Payer,
): Promise<Model | null> {
  // What else the body says of routing was not checked.
  const { provider: _provider, cost_quality: _quality, ...prompt } = request;
  const given = { ...prompt, model: AUTO, svc: { compression: 'off' as const } };
  const arrival = { protocol: messages, text: () => JSON.stringify(given), header: () => undefined };
  try {
    const asked = readChatRequest(given, context.catalogue, arrival);
    return (await routeChat(context, asked, payer, { dry: true })).decision.model;
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
