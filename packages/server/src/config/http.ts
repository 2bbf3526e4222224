import type { BodyLimits } from '../http/body.ts';
import type { EnvReader } from './reader.ts';

/** Time-outs of connections and requests, and how the server shuts down. */
export interface HttpConfig {
  readonly bodies: BodyLimits;
  /** Connections that are served at once. Further ones are answered 503 and closed. */
  readonly maxConnections: number;
  /** After the first signal: how long `/readyz` says 503 while requests are still served, in milliseconds. */
  readonly lameDuckMs: number;
  /** After that: how long requests in flight may take, in milliseconds. */
  readonly drainMs: number;
}

const DAY_MS = 86_400_000;

/** @param production where a balancer must see `/readyz` fail before connections are refused */
export function readHttp(read: EnvReader, production: boolean): HttpConfig {
  const milliseconds = (name: string, fallback: number): number => read.integer(name, fallback, 10, DAY_MS);
  return {
    bodies: {
      stallMs: milliseconds('TALLY_BODY_STALL_MS', 30_000),
      wholeMs: milliseconds('TALLY_BODY_TIMEOUT_MS', 60_000),
      // A streamed body may hold a gigabyte: this lets it come at 5 Mbit/s.
      streamMs: milliseconds('TALLY_STREAM_BODY_TIMEOUT_MS', 1_800_000),
    },
    maxConnections: read.integer('TALLY_MAX_CONNECTIONS', 4_096, 1, 1_000_000),
    lameDuckMs: read.integer('TALLY_LAME_DUCK_SECONDS', production ? 5 : 0, 0, 3_600) * 1_000,
    drainMs: read.integer('TALLY_DRAIN_SECONDS', production ? 300 : 10, 0, 86_400) * 1_000,
  };
}
