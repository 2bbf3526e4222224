import type { Caller } from '@tallystick/callers';
import { TallyError } from '@tallystick/core';
import type { LogStorms } from '@tallystick/kit';
import type { Logger } from 'pino';
import { CallTrail } from '../calls/call-trail.ts';
import { uniform } from '../experiments/draws.ts';
import type { ShadowOutcome } from '../metrics.ts';
import { chat } from '../protocols/chat.ts';
import { AUTO } from '../router/auto.ts';
import { payerOf } from './call-payer.ts';
import { CallSignal } from './call-signal.ts';
import type { ChatRequest } from './chat-request.ts';
import { type Call, completeChat } from './complete.ts';
import type { PipelineContext } from './context.ts';
import { experimentsOf } from './key-routing.ts';
import { listFailure } from './list-failure.ts';

/** Shadow calls under way at a time; what comes meanwhile has none. */
const MOST_AT_ONCE = 8;
const FAILED = { level: 'warn', burst: 3 } as const;

interface ShadowDependencies {
  /** The caller that a key of the operator stands for. @throws if the key is not good */
  readonly callerOf: (keyId: string) => Promise<Caller>;
  readonly logger: Logger;
  readonly storms: LogStorms;
}

type Shadowed = Pick<Call<ChatRequest>, 'request' | 'caller' | 'trail' | 'incoming'>;

/**
 * Sends a share of the answered `auto` calls once more, to the model that the operator tries out. The caller neither
 * waits for it, nor pays, nor sees it: it is a call of the operator's key, with a bill and a receipt of its own.
 */
export class Shadows {
  readonly #dependencies: ShadowDependencies;
  #running = 0;

  constructor(dependencies: ShadowDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Follows an answered call. It sends nothing where the call's own route could not have led to the model.
   * @param receiptId of the call; whether it has a shadow follows from it
   */
  follow(context: PipelineContext, call: Shadowed, receiptId: string): void {
    const shadow = context.experiments.shadow;
    if (shadow === undefined || !isDrawn(shadow, call, receiptId)) return;
    const { model, name, key } = shadow;
    if (this.#running >= MOST_AT_ONCE) return context.metrics.shadowed(model, 'busy');
    const request = shadowOf(call.request, { model, tags: { shadow: name, shadow_of: receiptId } });
    const ended = Promise.withResolvers<void>();
    context.unbilled.add(ended.promise);
    this.#running += 1;
    void this.#send(context, request, key, call).then((outcome) => {
      this.#running -= 1;
      context.metrics.shadowed(model, outcome);
      context.unbilled.delete(ended.promise);
      return ended.resolve();
    });
  }

  async #send(
    context: PipelineContext,
    request: ChatRequest,
    key: string,
    { incoming: { requestId, traceId } }: Shadowed,
  ): Promise<ShadowOutcome> {
    const { callerOf, logger, storms } = this.#dependencies;
    const incoming = { requestId, traceId, span: null, tell: nothing, note: nothing };
    const signal = new CallSignal(new AbortController().signal, context.maxCallMs, context.stop);
    const trail = new CallTrail();
    let call: Call<ChatRequest> | null = null;
    try {
      const caller = await callerOf(key);
      call = { request, incoming, caller, signal, claim: undefined, trail, open: null };
      await completeChat(context, call);
      return 'answered';
    } catch (err) {
      if (call !== null) listFailure(context.calls, call, err, context.clock());
      const code = err instanceof TallyError ? err.code : 'internal';
      const msg = 'a shadow call failed';
      if (storms.admits(`${msg}: ${code}`, FAILED))
        logger.warn({ requestId, model: request.model, err }, msg);
      return UNPAID.has(code) ? 'unpaid' : 'failed';
    } finally {
      signal.end();
    }
  }
}

/** What refuses a call for its money. */
const UNPAID: ReadonlySet<string> = new Set(['insufficient_balance', 'budget_exceeded', 'rate_limited']);

const nothing = (): void => {};

function isDrawn(
  { name, share, model }: { readonly name: string; readonly share: number; readonly model: string },
  { request, caller, trail: { decision } }: Shadowed,
  receiptId: string,
): boolean {
  if (request.model !== AUTO || request.session !== null || decision === null) return false;
  const own = experimentsOf(payerOf(caller)).shadow ?? share;
  if (uniform(receiptId, name) >= own) return false;
  const score = decision.explanation.outcome.scores.find((one) => one.model === model);
  return score !== undefined && score.excluded === null && decision.model.id !== model;
}

/** The same prompt for another model, in one piece, with nothing that reaches back to the caller. */
function shadowOf(
  request: ChatRequest,
  { model, tags }: Pick<ChatRequest, 'model'> & { readonly tags: NonNullable<ChatRequest['tags']> },
): ChatRequest {
  const { stream: _stream, stream_options: _options, ...body } = request.body;
  return {
    ...request,
    protocol: chat,
    native: null,
    body: { ...body, model },
    model,
    stream: false,
    includeUsage: false,
    preferences: {},
    costQuality: null,
    session: null,
    anchor: false,
    tags,
    keepsItems: false,
    // What the caller has kept is kept for the caller, not for the operator's key.
    keep: false,
    credential: '',
  };
}
