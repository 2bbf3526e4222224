import { type ErrorCode, TallyError } from '@tallystick/core';
import type { Received } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { Metrics } from '../observability/observability.ts';
import type { Answer } from './answer.ts';
import type { BodyLimits } from './body.ts';
import { type AppContext, header, isProbe } from './context.ts';
import { type Dialect, dialectAt } from './dialect.ts';
import { refusalHeaders } from './fact-headers.ts';
import { incomingRequest } from './incoming-request.ts';
import type { LogStorms } from './log-storm.ts';
import { isFault } from './problem.ts';
import { commonHeaders, refusal, requestIdOf } from './refusal.ts';

/** One request on its way through a handler. */
export interface Exchange extends Received {
  readonly c: AppContext;
  /** The caller's `X-Request-Id` if it is well-formed, else a fresh UUID. */
  readonly requestId: string;
  /** Headers of the answer, even if that is a problem document. Lower-case names. */
  readonly headers: Record<string, string>;
}

/** Begins the exchange of a request. Headers noted on it are sent with any answer. */
export function exchangeOf(c: AppContext, requestId: string): Exchange {
  const headers: Record<string, string> = {};
  return { c, requestId, headers, incoming: incomingRequest(c, headers) };
}

/** What every request needs besides its handler. */
export interface Frame {
  readonly receiptsUrl: string;
  readonly maxBodyBytes: number;
  readonly bodies: BodyLimits;
  readonly logger: Logger;
  readonly storms: LogStorms;
  readonly metrics: Metrics;
  /** Those that the mounted endpoints speak. */
  readonly dialects: ReadonlySet<Dialect>;
}

/** Where a handler is mounted: the labels of its metrics, and the codes that it documents. */
export interface RequestContext {
  readonly method: string;
  readonly route: string;
  readonly errors?: ReadonlySet<ErrorCode>;
}

/**
 * The one path from a request to its Response: request id, handler, errors to problems, headers, metrics and log line.
 * It replaces a chain of middlewares, which would make Hono build and copy `Headers`.
 */
export function exchangeHandler(
  frame: Frame,
  place: RequestContext,
  handle: (exchange: Exchange) => Answer | Promise<Answer>,
): (c: AppContext) => Promise<Response> {
  return async (c) => {
    const started = performance.now();
    const exchange = exchangeOf(c, requestIdOf(header(c, 'x-request-id')));
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

/** Lines of one kind that are logged in ten seconds; one more line counts the others. */
const FAULTS = { level: 'error', burst: 3 } as const;
const UNLISTED = { level: 'warn', burst: 3 } as const;
const REFUSALS = { level: 'info', burst: 20 } as const;

/** Counts and logs an answer. The service's own probes are neither counted nor logged. */
function report(
  { metrics, logger, storms }: Frame,
  place: RequestContext,
  { c, requestId }: Exchange,
  { status, milliseconds }: { readonly status: number; readonly milliseconds: number },
): void {
  const { method, route } = place;
  const line = { requestId, method, route, status, milliseconds };
  if (isProbe(c)) return logger.debug(line, 'probe');
  metrics.observe(place, status, milliseconds / 1_000);
  if (status < 400 || storms.admits(`${method} ${route} ${status}`, REFUSALS)) logger.info(line, 'request');
}

function refuse(frame: Frame, place: RequestContext, exchange: Exchange, thrown: unknown): Answer {
  const { requestId } = exchange;
  const { method, route, errors } = place;
  const { logger, storms } = frame;
  const code = thrown instanceof TallyError ? thrown.code : 'internal';
  if (isFault(thrown)) {
    if (storms.admits(`${method} ${route} ${code}`, FAULTS)) {
      logger.error({ requestId, method, route, err: thrown }, 'request failed');
    }
  } else if (errors?.has(code) === false && storms.admits(`${method} ${route} ${code}`, UNLISTED)) {
    logger.warn({ requestId, method, route, code }, 'an error that the endpoint does not list');
  }
  Object.assign(exchange.headers, refusalHeaders(thrown));
  const dialect = dialectAt(frame.dialects, exchange.c.req.path);
  return refusal(thrown, { dialect, requestId, receiptsUrl: frame.receiptsUrl });
}

function toResponse(answer: Answer, exchange: Exchange): Response {
  const headers: Record<string, string> = {
    ...commonHeaders(exchange.requestId),
    ...exchange.headers,
    ...answer.headers,
  };
  if (answer.contentType !== null) headers['content-type'] = answer.contentType;
  return new Response(answer.body, { status: answer.status, headers });
}
