import { type ErrorCode, TallyError } from '@tallystick/core';
import type { Logger } from 'pino';
import type { Metrics } from '../observability.ts';
import { isFault, problemAnswer, toProblem } from '../problem.ts';
import type { Answer } from './answer.ts';
import { type AppContext, header, isProbe } from './context.ts';
import { corsHeaders } from './cors.ts';
import { openAiError } from './openai-error.ts';

/** One request on its way through a handler. */
export interface Exchange {
  readonly c: AppContext;
  /** The caller's `X-Request-Id` when it is sane, else a fresh UUID. */
  readonly requestId: string;
  /** Headers that go out with whatever is answered, a problem included. Lower-case names. */
  readonly headers: Record<string, string>;
}

/** What every request needs and no handler should care about. */
export interface Frame {
  readonly receiptsUrl: string;
  readonly maxBodyBytes: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Where a handler is mounted: the labels of its metrics, and the codes that it says it gives. */
export interface Place {
  readonly method: string;
  readonly route: string;
  readonly errors?: ReadonlySet<ErrorCode>;
}

/**
 * The one path from a request to its Response: request id, handler, errors to problems, headers, metrics and
 * log line. It takes the place of a chain of middlewares, which would make Hono build and copy `Headers`.
 */
export function exchangeHandler(
  frame: Frame,
  place: Place,
  handle: (exchange: Exchange) => Answer | Promise<Answer>,
): (c: AppContext) => Promise<Response> {
  return async (c) => {
    const started = performance.now();
    const exchange: Exchange = { c, requestId: requestIdOf(c), headers: {} };
    let answer: Answer;
    try {
      answer = await handle(exchange);
    } catch (thrown) {
      answer = refuse(frame, place, exchange, thrown);
    }
    const milliseconds = performance.now() - started;
    report(frame, place, exchange, { status: answer.status, milliseconds });
    return toResponse(answer, exchange);
  };
}

/** Counts and logs an answer. What the service asks itself is no traffic: it is in neither. */
function report(
  { metrics, logger }: Frame,
  place: Place,
  { c, requestId }: Exchange,
  { status, milliseconds }: { readonly status: number; readonly milliseconds: number },
): void {
  const { method, route } = place;
  const line = { requestId, method, route, status, milliseconds };
  if (isProbe(c)) return logger.debug(line, 'probe');
  metrics.observe(place, status, milliseconds / 1_000);
  logger.info(line, 'request');
}

function refuse(frame: Frame, place: Place, exchange: Exchange, thrown: unknown): Answer {
  const { requestId } = exchange;
  const known = { requestId, method: place.method, route: place.route };
  if (isFault(thrown)) frame.logger.error({ ...known, err: thrown }, 'request failed');
  else if (thrown instanceof TallyError && place.errors?.has(thrown.code) === false) {
    frame.logger.warn({ ...known, code: thrown.code }, 'an error that the endpoint does not list');
  }
  const problem = toProblem(thrown, { receiptsUrl: frame.receiptsUrl, requestId });
  const openai = exchange.c.req.path.startsWith(OPENAI_PATHS);
  return problemAnswer(openai ? { ...problem, error: openAiError(problem, thrown) } : problem);
}

/** Under which OpenAI's clients call. */
const OPENAI_PATHS = '/v1/compute/';

function toResponse(answer: Answer, exchange: Exchange): Response {
  const headers: Record<string, string> = {
    ...corsHeaders,
    'x-content-type-options': 'nosniff',
    'x-request-id': exchange.requestId,
    ...exchange.headers,
    ...answer.headers,
  };
  if (answer.contentType !== null) headers['content-type'] = answer.contentType;
  return new Response(answer.body, { status: answer.status, headers });
}

const SANE_REQUEST_ID = /^[\w.:-]{1,128}$/;

function requestIdOf(c: AppContext): string {
  const given = header(c, 'x-request-id');
  return given !== undefined && SANE_REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
