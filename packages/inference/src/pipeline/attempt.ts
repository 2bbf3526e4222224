import type { Incoming, LogStorms } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { CallTrail, FailedTry } from '../calls/call-trail.ts';
import type { Model } from '../catalogue/catalogue.ts';
import type { AnswerTimes } from '../learning/settled-call.ts';
import type { ComputeMetrics } from '../metrics.ts';
import { type ChatAnswer, type Provider, ProviderError } from '../providers/provider.ts';
import type { Health } from '../resilience/health.ts';
import { callWithRetries, type RetryPolicy } from '../resilience/retries.ts';
import { allResting } from '../resilience/unavailable-models.ts';
import { answeringAs } from './answering-as.ts';
import { traced } from './traced.ts';

export interface Tried<Answer> {
  readonly model: Model;
  readonly answer: Answer;
  /** The tries before the one that answered, including retries. */
  readonly failed: readonly FailedTry[];
  /** When the model was asked, and began to answer, in milliseconds of `performance.now()`. */
  readonly times: Pick<AnswerTimes, 'asked' | 'begun'>;
}

export interface TryContext {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly health: Health;
  readonly retryPolicy: RetryPolicy;
  readonly metrics: Pick<ComputeMetrics, 'tried'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly storms: LogStorms;
  readonly signal: AbortSignal;
  /** The request that the call is made for. */
  readonly incoming: Pick<Incoming, 'requestId' | 'traceId' | 'span'>;
  /** Is told of every try. */
  readonly trail: CallTrail;
  /** Whether the caller named the model. */
  readonly named: boolean;
}

/**
 * Tries one model after the other until one begins to answer. An answer that has begun is never retried. The caller
 * must report the success of the answer.
 * @throws ProviderError of the last provider that has its model; at once if the request is at fault, or the signal
 * aborts. model_gone or no_model_available if no provider has its model any more
 */
export async function tryEach<Answer = ChatAnswer>(
  context: TryContext,
  models: readonly Model[],
  ask: (provider: Provider, model: Model) => Promise<Answer>,
): Promise<Tried<Answer>> {
  const { providers, health, retryPolicy, metrics, signal, incoming, named, trail } = context;
  const failed = trail.tries;
  const began = performance.now();
  let last: ProviderError | null = null;
  for (const model of models) {
    const provider = providers.get(model.provider);
    if (provider === undefined) continue;
    let askedAt = performance.now();
    const note = ({ kind, status }: ProviderError): void =>
      void failed.push({ model: model.id, kind, status, ...trail.span(askedAt) });
    try {
      const onRetry = (error: ProviderError, waitMs: number): void => {
        note(error);
        logFailedTry(context, model, error, {
          waitMs,
          msg: 'a call of a provider failed, and is tried again',
        });
      };
      const options = { signal, policy: retryPolicy, onRetry };
      const asked = answeringAs(model, traced(provider, incoming.span));
      const attempt = measured(metrics, model, () => {
        askedAt = performance.now();
        return ask(asked, model);
      });
      const answer = await callWithRetries(attempt, options);
      trail.ends('tries', began);
      trail.answered = { model: model.id, provider: model.provider, ...trail.span(askedAt) };
      return { model, failed, answer, times: { asked: askedAt, begun: performance.now() } };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      health.failure(model, error);
      note(error);
      if (error.kind === 'refused' || error.kind === 'aborted') throw error;
      const next = models[models.indexOf(model) + 1]?.id;
      if (next !== undefined)
        logFailedTry(context, model, error, { next, msg: 'a model failed, and the next one is tried' });
      if (error.kind !== 'gone') last = error;
    }
  }
  if (last === null && failed.length > 0) throw allResting(models, health, named);
  throw last ?? new ProviderError('unreachable', 'there is no provider to ask');
}

/** Runs the same work and counts the outcome of each try. */
function measured<Answer>(
  metrics: Pick<ComputeMetrics, 'tried'>,
  model: Model,
  work: () => Promise<Answer>,
): () => Promise<Answer> {
  return async () => {
    const from = performance.now();
    const seconds = (): number => (performance.now() - from) / 1000;
    try {
      const answer = await work();
      metrics.tried(model, 'answered', seconds());
      return answer;
    } catch (error) {
      if (error instanceof ProviderError) metrics.tried(model, error.kind, seconds());
      throw error;
    }
  };
}

/** Lines of one kind, model and cause that are written in a while; the others are counted. */
const FAILED_TRIES = { level: 'warn', burst: 3 } as const;

function logFailedTry(
  { logger, storms, incoming: { requestId, traceId } }: TryContext,
  { id, provider }: Model,
  { kind, status }: ProviderError,
  { msg, ...facts }: { readonly msg: string; readonly waitMs?: number; readonly next?: string },
): void {
  if (!storms.admits(`${msg}: ${id} ${kind}`, FAILED_TRIES)) return;
  logger.warn(
    { requestId, traceId: traceId ?? undefined, provider, model: id, why: kind, status, ...facts },
    msg,
  );
}
