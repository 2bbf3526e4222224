import type { ErrorCode } from '@tallystick/core';
import type { LogStorms, Received, Span } from '@tallystick/kit';
import type { Logger } from 'pino';
import type { Metrics } from '../observability/observability.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { Answer } from './answer.ts';
import { Finished } from './answered.ts';
import type { BodyLimits } from './body.ts';
import { type AppContext, header, incomingOf, isProbe } from './context.ts';
import { type Dialect, dialectAt } from './dialect.ts';
import { refusalHeaders } from './fact-headers.ts';
import { incomingRequest } from './incoming-request.ts';
import { isFault, publicError } from './problem.ts';
import { commonHeaders, refusal, requestIdOf } from './refusal.ts';
import { type RequestRecord, traceIdOf } from './request-record.ts';

/** One request on its way through a handler. */
export interface Exchange extends Received {
  readonly c: AppContext;
  /** The caller's `X-Request-Id` if it is well-formed, else a fresh UUID. */
  readonly requestId: string;
  /** Headers of the answer, even if that is a problem document. Lower-case names. */
  readonly headers: Record<string, string>;
  /** What its line in the log will say. */
  readonly record: RequestRecord;
}

/** Begins the exchange of a request. Headers noted on it are sent with any answer. */
export function exchangeOf(c: AppContext, record: RequestRecord): Exchange {
  const headers: Record<string, string> = {};
  const { requestId } = record;
  return { c, requestId, headers, record, incoming: incomingRequest(c, headers, record) };
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
  /** Null while telemetry is off. */
  readonly tracing: Tracing | null;
}

/** Where a handler is mounted: the labels of its metrics, and the codes that it documents. */
export interface RequestContext {
  readonly method: string;
  readonly route: string;
  readonly errors?: ReadonlySet<ErrorCode>;
}

/**
 * The one path from a request to its answer: request id, handler, errors to problems, headers, metrics and log line.
 * It replaces a chain of middlewares, which would make Hono build and copy `Headers`.
 * @returns a `Finished` by another name for a request of Node's server, or a probe; a `Response` to everyone else
 */
export function exchangeHandler(
  frame: Frame,
  place: RequestContext,
  handle: (exchange: Exchange) => Answer | Promise<Answer>,
): (c: AppContext) => Promise<Response> {
  return async (c) => {
    const started = performance.now();
    const exchange = exchangeOf(c, recordOf(frame, place, c));
    let answer: Answer;
    try {
      answer = await handle(exchange);
    } catch (thrown) {
      answer = refuse(frame, place, exchange, thrown);
    }
    const milliseconds = performance.now() - started;
    const { status, concluded } = answer;
    if (!isProbe(c)) frame.metrics.observe(place, status, milliseconds / 1_000);
    const conclude = (): void => report(frame, place, exchange, { status, milliseconds });
    if (concluded === undefined) conclude();
    else void concluded.then(conclude);
    const finished = finish(answer, exchange);
    if (incomingOf(c) !== undefined || isProbe(c)) return finished as unknown as Response;
    return new Response(finished.body, finished);
  };
}

/** Begins what is told of a request. What the service asks itself has no trace. */
function recordOf({ tracing }: Frame, { method, route }: RequestContext, c: AppContext): RequestRecord {
  const span =
    tracing === null || isProbe(c)
      ? null
      : tracing.begin(`${method} ${route}`, {
          header: (name) => header(c, name),
          attributes: { 'http.request.method': c.req.method, 'http.route': route },
        });
  return {
    requestId: requestIdOf(header(c, 'x-request-id')),
    traceId: span?.traceId ?? traceIdOf(header(c, 'traceparent')),
    span,
    facts: {},
  };
}

/** Lines of one kind that are logged in ten seconds; one more line counts the others. */
const FAULTS = { level: 'error', burst: 3 } as const;
const UNLISTED = { level: 'warn', burst: 3 } as const;
const REFUSALS = { level: 'info', burst: 20 } as const;

/** Logs an answer and ends its span. The service's own probes are logged for debugging alone. */
function report(
  { logger, storms }: Frame,
  { method, route }: RequestContext,
  { c, record: { requestId, traceId, span, facts } }: Exchange,
  { status, milliseconds }: { readonly status: number; readonly milliseconds: number },
): void {
  if (span !== null) endSpan(span, { requestId, status, facts });
  const line = {
    requestId,
    traceId: traceId ?? undefined,
    method,
    route,
    status,
    milliseconds,
    ...facts,
  };
  if (isProbe(c)) return logger.debug(line, 'probe');
  if (status < 400 || storms.admits(`${method} ${route} ${status}`, REFUSALS)) logger.info(line, 'request');
}

function endSpan(
  span: Span,
  {
    requestId,
    status,
    facts: { key, did, receipt, chargedUsdc, code },
  }: Pick<RequestRecord, 'requestId' | 'facts'> & { readonly status: number },
): void {
  span.set({
    'http.response.status_code': status,
    'tallystick.request_id': requestId,
    ...(key !== undefined && { 'tallystick.key': key }),
    ...(did !== undefined && { 'tallystick.did': did }),
    ...(receipt !== undefined && { 'tallystick.receipt': receipt }),
    ...(chargedUsdc !== undefined && { 'tallystick.charged_usdc': chargedUsdc }),
    ...(code !== undefined && { 'error.type': code }),
  });
  // A refusal is the caller's error, not the service's (OpenTelemetry's conventions for HTTP, status of server spans).
  span.end(status >= 500 ? (code ?? String(status)) : undefined);
}

function refuse(frame: Frame, place: RequestContext, exchange: Exchange, thrown: unknown): Answer {
  const { requestId, incoming } = exchange;
  const { method, route, errors } = place;
  const { logger, metrics, storms } = frame;
  const { code } = publicError(thrown);
  incoming.tell({ code });
  if (!incoming.isProbe) metrics.refused(place, code);
  if (isFault(thrown)) {
    if (storms.admits(`${method} ${route} ${code}`, FAULTS)) {
      const { traceId, facts } = exchange.record;
      logger.error(
        { requestId, traceId: traceId ?? undefined, method, route, ...facts, err: thrown },
        'request failed',
      );
    }
  } else if (errors?.has(code) === false && storms.admits(`${method} ${route} ${code}`, UNLISTED)) {
    logger.warn({ requestId, method, route, code }, 'an error that the endpoint does not list');
  }
  // What is refused or absent now may not be so later, and caches keep a 404 unless they are told not to (RFC 9111, section 4.2.2).
  exchange.headers['cache-control'] ??= 'no-store';
  Object.assign(exchange.headers, refusalHeaders(thrown));
  const dialect = dialectAt(frame.dialects, exchange.c.req.path);
  return refusal(thrown, { dialect, requestId, receiptsUrl: frame.receiptsUrl });
}

function finish(answer: Answer, exchange: Exchange): Finished {
  const headers: Record<string, string> = {
    ...commonHeaders(exchange.requestId),
    ...exchange.headers,
    ...answer.headers,
  };
  if (answer.contentType !== null) headers['content-type'] = answer.contentType;
  return new Finished(answer.status, headers, answer.body);
}
