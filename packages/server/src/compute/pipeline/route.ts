import { TallyError } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import type { RouteDecision } from '../router/router.ts';
import type { ChatBody } from '../types.ts';
import type { ChatRequest } from './chat-request.ts';
import type { PipelineContext } from './context.ts';
import { type Prompt, promptOf, tokenBound, tokenEstimate } from './token-bound.ts';
import { countPrompt } from './token-count.ts';

/** Where a call goes. */
export interface Route {
  readonly decision: RouteDecision;
  /** After compression. */
  readonly body: ChatBody;
  readonly savedTokens: number;
  readonly prompt: Prompt;
  /** No fewer than its tokens. */
  readonly bound: number;
}

/**
 * Compresses a request, then chooses the models that may serve it. Decides on an estimate of the prompt's tokens where
 * all that are chosen take it however it is counted, else on their number. A session's model must not hang on an
 * estimate that is taken back, so there the tokens are counted unless all models take the prompt.
 * @param account whose session it is
 * @throws model_not_found, context_too_long, no_model_available
 */
export async function routeChat(
  { compressor, router, catalogue }: PipelineContext,
  request: ChatRequest,
  account: string,
): Promise<Route> {
  const { body, savedTokens } = await compressor.compress(request.body);
  const prompt = promptOf(body);
  const bound = tokenBound(prompt);
  const maxOutputTokens = request.maxOutput ?? 0;
  const session = request.session === null ? null : JSON.stringify([account, request.session]);
  const decide = (promptTokens: number): RouteDecision =>
    router.route({
      body,
      promptTokens,
      maxOutputTokens,
      preferences: request.preferences,
      ...(request.costQuality !== null && { costQuality: request.costQuality }),
      session,
    });
  const fits = ({ context }: Model): boolean => bound + maxOutputTokens <= context;
  const fitsAll = catalogue.models.every((model) => model.kind !== 'chat' || fits(model));
  const roughly = (): RouteDecision => decide(tokenEstimate(bound));
  const estimated = fitsAll ? roughly() : session === null ? surely(roughly, fits) : null;
  // Counting takes a millisecond for each 10 kB or so.
  const decision = estimated ?? decide(await countPrompt(prompt, 'o200k'));
  return { decision, body, savedTokens, prompt, bound };
}

/** A decision whose models can all take the prompt for certain, else null. */
function surely(decide: () => RouteDecision, fits: (model: Model) => boolean): RouteDecision | null {
  try {
    const decision = decide();
    return [decision.model, ...decision.fallbacks].every(fits) ? decision : null;
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
