import { canonicalize, type JsonValue, TallyError } from '@tallystick/core';
import { validate } from '@tallystick/kit';
import { openCatalogue } from '../catalogue/open.ts';
import type { OperatorFile } from '../catalogue/schema.ts';
import { chatRequestSchema, readChatRequest } from '../pipeline/chat-request.ts';
import { promptOf, tokenBound, tokenEstimate } from '../pipeline/token-bound.ts';
import { decide } from './decide.ts';
import type { RouteExplanation, RouteOutcome } from './record.ts';
import { explanationSchema } from './record-schema.ts';
import { createRouter } from './router.ts';
import { weights } from './weights.ts';

export interface Replay {
  readonly recorded: RouteExplanation;
  /** What the recorded inputs lead to now. */
  readonly outcome: RouteOutcome;
  readonly same: boolean;
  /** Members of the outcome that differ. */
  readonly differences: readonly string[];
}

/**
 * Decides again from the inputs that an explanation records.
 * @param json a `RouteExplanation`
 * @throws missing_field, unknown_field, invalid_field where it is no explanation; invalid_field with
 * `inputs.weights` where it was made with other weights than this version's
 */
export function replay(json: JsonValue): Replay {
  return replayed(validate(explanationSchema, json) as RouteExplanation);
}

function replayed(recorded: RouteExplanation): Replay {
  if (recorded.inputs.weights !== weights.id) {
    throw new TallyError(
      'invalid_field',
      `inputs.weights: the decision was made with the weights ${recorded.inputs.weights}; this version has ${weights.id}. Use the version that made it.`,
      { field: 'inputs.weights' },
    );
  }
  const outcome = decide(recorded.inputs);
  const keys = Object.keys(outcome) as (keyof RouteOutcome)[];
  const differences = keys.filter((key) => text(outcome[key]) !== text(recorded.outcome[key]));
  return { recorded, outcome, same: differences.length === 0, differences };
}

function text(value: unknown): string {
  return canonicalize(value as JsonValue);
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
  return replayed(explanation);
}
