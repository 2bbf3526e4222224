import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

export interface AppEnv {
  Bindings: Partial<HttpBindings> & { readonly probe?: true };
  Variables: { inner?: InnerCall };
}

/** A call that comes inside the request's body, and says these things for itself. */
interface InnerCall {
  readonly idempotencyKey: string | undefined;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export type AppContext = Context<AppEnv>;

/** Node's own request; undefined under `app.request()` and on other runtimes. */
export function incomingOf(c: AppContext): IncomingMessage | undefined {
  return (c.env as Partial<HttpBindings> | undefined)?.incoming;
}

/**
 * Whether the service asks itself, to see how it is. What says so comes beside the request, from inside this process:
 * nothing that is sent over a network can say it.
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
