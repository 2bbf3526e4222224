import type { IncomingMessage } from 'node:http';
import type { Context } from 'hono';
import type { Bindings } from './asked.ts';

export interface AppEnv {
  Bindings: Partial<Bindings> & { readonly probe?: true };
  Variables: { inner?: InnerCall };
}

/** A call that is carried in another request's body, with its own idempotency key and signal. */
interface InnerCall {
  readonly idempotencyKey: string | undefined;
  /** Aborts when the caller no longer waits for the answer. */
  readonly signal: AbortSignal;
}

export type AppContext = Context<AppEnv>;

/** Node's own request; undefined under `app.request()` and on other runtimes. */
export function incomingOf(c: AppContext): IncomingMessage | undefined {
  return (c.env as Partial<Bindings> | undefined)?.incoming;
}

/**
 * Whether this is the service's own probe. The mark is set beside the request inside this process: nothing sent over a
 * network can set it.
 */
export function isProbe(c: AppContext): boolean {
  return (c.env as AppEnv['Bindings'] | undefined)?.probe === true;
}

/** A request header as one string, or undefined. Node's own record is read where there is one: it is cheaper. */
export function header(c: AppContext, lowerCaseName: string): string | undefined {
  const incoming = incomingOf(c);
  if (incoming === undefined) return c.req.header(lowerCaseName);
  const value = incoming.headers[lowerCaseName];
  return Array.isArray(value) ? value.join(', ') : value;
}
