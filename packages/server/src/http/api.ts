import { OpenAPIHono } from '@hono/zod-openapi';
import { TallyError } from '@tallystick/core';
import { type AppContext, type AppEnv, header } from './context.ts';
import { preflight } from './cors.ts';
import type { Endpoint } from './endpoint.ts';
import { exchangeHandler, type Frame } from './exchange.ts';
import { problemSchema } from './problem-responses.ts';

export type OpenApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>;

/** A Hono app that endpoints are mounted on, and the OpenAPI document that they make together. */
export interface Api {
  readonly app: OpenAPIHono<AppEnv>;
  readonly add: (...endpoints: readonly Endpoint[]) => void;
  /** OpenAPI 3.1 of everything added so far; made at the first call after an `add`. */
  readonly document: () => OpenApiDocument;
}

/** An app that answers preflights, 404, 405 and whatever escapes a handler as problem documents. */
export function createApi(frame: Frame): Api {
  const app = new OpenAPIHono<AppEnv>();
  let document: OpenApiDocument | undefined;
  app.openAPIRegistry.registerComponent('schemas', 'Problem', problemSchema);
  answerTheRest(app, frame);
  return {
    app,
    add: (...endpoints) => {
      document = undefined;
      for (const endpoint of endpoints) mount(app, frame, endpoint);
    },
    document: () => {
      document ??= app.getOpenAPI31Document({
        openapi: '3.1.0',
        info: {
          title: 'Tallystick',
          version: '1.0.0',
          description:
            'Signed receipts for AI calls and machine work that anyone can check, offline, years later.',
        },
        servers: [{ url: frame.receiptsUrl }],
      });
      return document;
    },
  };
}

function mount(app: OpenAPIHono<AppEnv>, frame: Frame, endpoint: Endpoint): void {
  app.openAPIRegistry.registerPath(endpoint.openapi);
  const place = { method: endpoint.method.toUpperCase(), route: endpoint.path, errors: endpoint.errors };
  const template = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const path = endpoint.rest ? `${template}{.+}` : template;
  app.on(
    place.method,
    path,
    exchangeHandler(frame, place, (exchange) => endpoint.handle(exchange, frame)),
  );
}

function answerTheRest(app: OpenAPIHono<AppEnv>, frame: Frame): void {
  const preflightAt = { method: 'OPTIONS', route: '(preflight)' };
  app.options(
    '*',
    exchangeHandler(frame, preflightAt, ({ c }) => {
      const allowed = methodsAt(app, c);
      if (allowed.length === 0) throw nothingHere(c);
      return preflight(allowed, header(c, 'access-control-request-headers'));
    }),
  );
  app.notFound(
    exchangeHandler(frame, { method: '(any)', route: '(none)' }, ({ c, headers }) => {
      const allowed = methodsAt(app, c);
      if (allowed.length === 0) throw nothingHere(c);
      headers['allow'] = allowed.join(', ');
      throw new TallyError(
        'method_not_allowed',
        `${c.req.path} answers to ${allowed.join(', ')}, not to ${c.req.method}.`,
      );
    }),
  );
  app.onError((error, c) =>
    exchangeHandler(frame, { method: '(any)', route: '(none)' }, () => {
      throw error;
    })(c),
  );
}

/** The methods that the path does answer to, for `Allow` (RFC 9110, section 10.2.1). */
function methodsAt(app: OpenAPIHono<AppEnv>, c: AppContext): string[] {
  const methods = ['GET', 'POST', 'PUT', 'DELETE'].filter((method) => {
    const [handlers] = app.router.match(method, c.req.path);
    return handlers.some(([[, route]]) => route.method === method);
  });
  if (methods.length === 0) return [];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
}

function nothingHere(c: AppContext): TallyError {
  return new TallyError('not_found', `There is nothing at ${c.req.path}. What there is: /docs`);
}
