import type { ErrorCode } from '@tallystick/core';
import { type DestinationStream, type Logger, pino } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { describeError } from './describe-error.ts';
import { LogStream } from './log-stream.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where a request was answered. */
interface Place {
  readonly method: string;
  readonly route: string;
}

/** The metrics of one app. Each app has its own registry, so that two in one process do not collide. */
export interface Metrics {
  readonly registry: Registry;
  /** Counts one answered request. `route` is the path's template, never the path, so that there are few labels. */
  observe(place: Place, status: number, seconds: number): void;
  /** Counts one answer that was an error, by its stable code. */
  refused(place: Place, code: ErrorCode): void;
  /** Counts log lines that could not be written. */
  droppedLines(count: number): void;
}

/**
 * A registry with the metrics of HTTP, of the log's lines, and of the process itself; `docs/observability.md` lists them.
 * @param restarts workers that were replaced until now
 */
export function createMetrics(restarts = 0): Metrics {
  const registry = new Registry();
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Answered requests.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from parsing the head of a request to its answer, not counting the time to send the body.',
    labelNames: ['route', 'method'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'http_errors_total',
    help: 'Requests that were answered with an error, by its code.',
    labelNames: ['route', 'method', 'code'],
    registers: [registry],
  });
  const dropped = new Counter({
    name: 'log_lines_dropped_total',
    help: 'Log lines that could not be written, for example because the disk was full.',
    registers: [registry],
  });
  // Summed over the workers.
  new Gauge({
    name: 'tally_workers',
    help: 'Processes of this service that serve its port.',
    registers: [registry],
  }).set(1);
  new Counter({
    name: 'tally_worker_restarts_total',
    help: 'Workers that ended unexpectedly and were replaced.',
    registers: [registry],
    aggregator: 'max',
  }).inc(restarts);
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    observe: ({ method, route }, status, seconds) => {
      requests.inc({ route, method, status });
      duration.observe({ route, method }, seconds);
    },
    refused: ({ method, route }, code) => refusals.inc({ route, method, code }),
    droppedLines: (count) => dropped.inc(count),
  };
}

/**
 * Writes JSON lines to standard error, or to `stream`. Lines are buffered for at most a second, and flushed when the
 * process ends.
 * @param worker number that each line names, of a worker
 */
export function createLogger(
  level: LogLevel,
  stream: DestinationStream = new LogStream(2, () => undefined),
  worker: number | null = null,
): Logger {
  return pino(
    {
      level,
      base: worker === null ? null : { worker },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    stream,
  );
}
