import { TallyError } from '@tallystick/core';
import type { Model } from '../catalogue/catalogue.ts';
import type { RouteDecision } from '../router/router.ts';
import type { ChatBody } from '../types.ts';
import type { ChatRequest } from './chat-request.ts';
import type { Compressed, Compression } from './compressor-interface.ts';
import type { PipelineContext } from './context.ts';
import { fitToContext } from './fit.ts';
import { type Prompt, promptOf, tokenBound, tokenEstimate } from './token-bound.ts';
import { countPrompt } from './token-count.ts';

/** The chosen route of a call. */
export interface Route {
  readonly decision: RouteDecision;
  /** The body after compression. */
  readonly body: ChatBody;
  /** Null if there was nothing to compress. */
  readonly compression: Compression | null;
  readonly note: string | null;
  readonly prompt: Prompt;
  /** An upper bound of its tokens. */
  readonly bound: number;
}

/**
 * Compresses a request, then chooses the models that may serve it. If none accepts that many tokens, and the caller
 * allows cutting, it cuts until one does.
 * @param account whose session it is
 * @param dry whether the prompt is not sent
 * @throws model_not_found, context_too_long, no_model_available
 */
export async function routeChat(
  context: PipelineContext,
  request: ChatRequest,
  account: string,
  dry = false,
): Promise<Route> {
  const { options, session, body } = {
    options: request.compression,
    session: request.session,
    body: request.body,
  };
  const input = { body, options, session, account, dry };
  const compressed = await context.compressor.compress(input);
  try {
    return await routeBody(context, request, account, compressed);
  } catch (error) {
    if (!(error instanceof TallyError && error.code === 'context_too_long')) throw error;
    const fitting = await fitToContext(context, request, input, (smaller) =>
      routeBody(context, request, account, smaller),
    );
    if (fitting !== null) return fitting;
    throw tooLong(error, options.tier, compressed);
  }
}

/** Adds to the router's error what the caller can do about it. */
function tooLong(error: TallyError, tier: string, { compression }: Compressed): TallyError {
  const hint =
    tier === 'off'
      ? 'svc.compression is off; with it, the least needed text would be cut.'
      : 'With svc.retrieve more may be cut, which the model can ask for.';
  const sizes =
    compression === null
      ? ''
      : ` Compression left ${compression.tokensAfter} of ${compression.tokensBefore} tokens of text.`;
  return new TallyError('context_too_long', `${error.message}${sizes} ${hint}`, {
    field: error.field,
    cause: error,
  });
}

/**
 * Chooses the models that may serve a request as it is sent. It decides on an estimate of the prompt's tokens if all
 * chosen models accept the prompt however it is counted, else on their exact number. A session's model must not depend
 * on an estimate that is corrected later, so there the tokens are counted unless every model accepts the prompt.
 */
async function routeBody(
  { router, catalogue }: PipelineContext,
  request: ChatRequest,
  account: string,
  { body, compression, note }: Compressed,
): Promise<Route> {
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
      nativeOnly: request.native?.only ?? null,
    });
  const fits = ({ context }: Model): boolean => bound + maxOutputTokens <= context;
  const fitsAll = catalogue.models.every((model) => model.kind !== 'chat' || fits(model));
  const decideByEstimate = (): RouteDecision => decide(tokenEstimate(bound));
  const estimated = fitsAll
    ? decideByEstimate()
    : session === null
      ? decideIfCertain(decideByEstimate, fits)
      : null;
  // Counting takes a millisecond for each 10 kB or so.
  const decision = estimated ?? decide(await countPrompt(prompt, 'o200k'));
  return { decision, body, compression, note, prompt, bound };
}

/** A decision whose models can all certainly accept the prompt, else null. */
function decideIfCertain(decide: () => RouteDecision, fits: (model: Model) => boolean): RouteDecision | null {
  try {
    const decision = decide();
    return [decision.model, ...decision.fallbacks].every(fits) ? decision : null;
  } catch (error) {
    if (error instanceof TallyError) return null;
    throw error;
  }
}
