import type { JsonValue } from '@tallystick/core';
import { validate } from '@tallystick/kit';
import { openCatalogue } from '../catalogue/open.ts';
import type { OperatorFile } from '../catalogue/schema.ts';
import { chatRequestSchema, readChatRequest } from '../pipeline/chat-request.ts';
import { promptOf, tokenBound, tokenEstimate } from '../pipeline/token-bound.ts';
import type { RouteExplanation } from './record.ts';
import { explanationSchema } from './record-schema.ts';
import { type Replay, redecide } from './redecide.ts';
import { createRouter } from './router.ts';

/**
 * Decides again from the inputs that an explanation records.
 * @param json a `RouteExplanation`
 * @throws missing_field, unknown_field, invalid_field where it is no explanation; invalid_field with
 * `inputs.weights` where it was made with other weights than this version's, and with `inputs.learned` or
 * `inputs.bandit.ratings` where that is not the hash of what the candidates' records say
 */
export function replay(json: JsonValue): Replay {
  return redecide(validate(explanationSchema, json) as RouteExplanation);
}

/**
 * Decides a request as this machine's service would, with every model healthy and nothing sent.
 * @param json a chat completion request
 * @param operator what the operator adds to the built-in catalogue
 * @throws as `openCatalogue`, `Router.route` and the check of a request
 */
export function explainRequest(
  json: JsonValue,
  env: Readonly<Record<string, string | undefined>>,
  operator: OperatorFile,
): Replay {
  const body = validate(chatRequestSchema, json);
  const { catalogue } = openCatalogue(env, operator);
  const request = readChatRequest(body, catalogue);
  const { explanation } = createRouter(catalogue, { rest: () => null }).route({
    body: request.body,
    promptTokens: tokenEstimate(tokenBound(promptOf(request.body))),
    maxOutputTokens: request.maxOutput ?? 0,
    preferences: request.preferences,
    ...(request.costQuality !== null && { costQuality: request.costQuality }),
    session: null,
  });
  return redecide(explanation);
}
