import { createLogStorms } from '../../kit/src/log-storm.ts';
import type { Frame } from '../src/http/exchange.ts';
import { createLogger, createMetrics } from '../src/observability/observability.ts';

/** A frame whose log lines are kept in `lines`. */
export function testFrame(overrides: Partial<Frame> = {}): Frame & { lines: string[] } {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  return {
    receiptsUrl: 'https://receipts.test',
    maxBodyBytes: 1_024,
    bodies: { stallMs: 30_000, wholeMs: 60_000, streamMs: 60_000 },
    logger,
    storms: createLogStorms(logger),
    metrics: createMetrics(),
    dialects: new Set(),
    tracing: null,
    lines,
    ...overrides,
  };
}

/** A request with a JSON body. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}
