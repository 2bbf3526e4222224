import { TallyError } from '@tallystick/core';
import type { CallTrail } from '../calls/call-trail.ts';
import type { Model } from '../catalogue/catalogue.ts';
import { type Drawn, draw } from '../experiments/draw.ts';
import { AUTO } from '../router/auto.ts';
import type { RouteDecision } from '../router/router.ts';
import type { ChatBody } from '../types.ts';
import { withinLimits } from './allowed-models.ts';
import type { ChatRequest } from './chat-request.ts';
import type { Compressed, Compression } from './compressor-interface.ts';
import type { PipelineContext } from './context.ts';
import { fitToContext } from './fit.ts';
import { experimentsOf, type RoutedPayer, routedBy, spentToday } from './key-routing.ts';
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
 * @param payer whose session it is
 * @param dry whether the prompt is not sent
 * @param trail is told how long compression took
 * @throws model_not_found, model_not_allowed, context_too_long, no_model_available
 */
export async function routeChat(
  context: PipelineContext,
  asked: ChatRequest,
  payer: RoutedPayer & { readonly name: string },
  options: RouteOptions = {},
): Promise<Route> {
  const session = asked.model === AUTO ? sessionOf(payer.name, asked.session) : null;
  if (session === null) return routeOnce(context, asked, payer, options);
  const before = await context.pins.read(payer.name, session);
  const route = await routeOnce(context, asked, payer, options);
  if (options.dry === true) return route;
  const chosen = route.decision.model.id;
  const pinned = await context.pins.write(payer.name, session, chosen, before);
  // Another process chose at the same time, and was first.
  return pinned === chosen ? route : routeOnce(context, asked, payer, options);
}

interface RouteOptions {
  readonly dry?: boolean;
  readonly trail?: CallTrail;
}

/** The name of a caller's session among those of all callers. */
function sessionOf(account: string, session: string | null): string | null {
  return session === null ? null : JSON.stringify([account, session]);
}

async function routeOnce(
  context: PipelineContext,
  asked: ChatRequest,
  payer: RoutedPayer & { readonly name: string },
  { dry = false, trail }: RouteOptions,
): Promise<Route> {
  const { name: account } = payer;
  const request = withinLimits(routedBy(asked, payer), payer.spenders, context.catalogue);
  const spent = await spentToday(context, request, payer);
  const { options, session, body } = {
    options: request.compression,
    session: request.session,
    body: request.body,
  };
  const input = { body, options, session, account, dry };
  const began = performance.now();
  const compressed = await context.compressor.compress(input);
  trail?.ends('compress', began);
  const drawn = await draw(context, request, { account, own: experimentsOf(payer) });
  const toRoute = { request, account, spent, drawn };
  try {
    return await routeBody(context, toRoute, compressed);
  } catch (error) {
    if (!(error instanceof TallyError && error.code === 'context_too_long')) throw error;
    const fitting = await fitToContext(context, request, input, (smaller) =>
      routeBody(context, toRoute, smaller),
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

/** A request, the account that its session belongs to, and what its payer spent today if that matters. */
interface ToRoute {
  readonly request: ChatRequest;
  readonly account: string;
  readonly spent: bigint | undefined;
  readonly drawn: Drawn;
}

/**
 * Chooses the models that may serve a request as it is sent. It decides on an estimate of the prompt's tokens if all
 * chosen models accept the prompt however it is counted, else on their exact number. A session's model must not depend
 * on an estimate that is corrected later, so there the tokens are counted unless every model accepts the prompt.
 */
async function routeBody(
  { router, catalogue }: PipelineContext,
  { request, account, spent, drawn }: ToRoute,
  { body, compression, note }: Compressed,
): Promise<Route> {
  const prompt = promptOf(body);
  const bound = tokenBound(prompt);
  const maxOutputTokens = request.maxOutput ?? 0;
  const session = sessionOf(account, request.session);
  const decide = (promptTokens: number): RouteDecision =>
    router.route({
      body,
      promptTokens,
      maxOutputTokens,
      preferences: request.preferences,
      ...(drawn.costQuality !== null && { costQuality: drawn.costQuality }),
      drawn,
      session,
      ...(spent !== undefined && { spentToday: spent }),
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
