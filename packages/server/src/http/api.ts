import { OpenAPIHono } from '@hono/zod-openapi';
import { TallyError, VERSION } from '@tallystick/core';
import type { Answer } from './answer.ts';
import { basics } from './basics.ts';
import { type AppContext, type AppEnv, header } from './context.ts';
import { preflight } from './cors.ts';
import { type Dialect, dialectAt } from './dialect.ts';
import type { Endpoint } from './endpoint.ts';
import { type Exchange, exchangeHandler, type Frame } from './exchange.ts';
import { GROUPS } from './groups.ts';
import { type OpenApiDocument, published } from './openapi.ts';
import { anthropicProblemSchema, problemSchema } from './problem-responses.ts';
import { SECURITY_SCHEMES } from './security.ts';

/** A Hono app that endpoints are mounted on, and the OpenAPI document that they make together. */
export interface Api {
  readonly app: OpenAPIHono<AppEnv>;
  readonly add: (...endpoints: readonly Endpoint[]) => void;
  /** OpenAPI 3.1 of everything added so far; made at the first call after an `add`. */
  readonly document: () => OpenApiDocument;
}

interface ApiOptions extends Omit<Frame, 'dialects'> {
  /** Answers a browser at an address where nothing is; without it, every client gets a problem document. */
  readonly notFoundPage?: () => Answer;
}

/** An app that answers preflights, and makes problem documents of 404, 405 and whatever a handler throws. */
export function createApi({ notFoundPage, ...options }: ApiOptions): Api {
  const dialects = new Set<Dialect>();
  const frame = { ...options, dialects };
  const app = new OpenAPIHono<AppEnv>();
  const literals: Literals = new Map();
  const groups = new Set<string>();
  let document: OpenApiDocument | undefined;
  app.openAPIRegistry.registerComponent('schemas', 'Problem', problemSchema);
  app.openAPIRegistry.registerComponent('schemas', 'AnthropicProblem', anthropicProblemSchema);
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) {
    app.openAPIRegistry.registerComponent('securitySchemes', name, scheme);
  }
  answerTheRest(app, frame, literals, notFoundPage);
  return {
    app,
    add: (...endpoints) => {
      document = undefined;
      for (const { dialect } of endpoints) if (dialect !== undefined) dialects.add(dialect);
      for (const endpoint of endpoints) {
        groups.add(endpoint.group);
        mount(app, frame, literals, endpoint);
      }
    },
    document: () => {
      document ??= published(
        app.getOpenAPI31Document({
          openapi: '3.1.0',
          info: {
            title: 'Tallystick',
            version: VERSION,
            description: basics(frame.receiptsUrl),
            license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
          },
          servers: [{ url: frame.receiptsUrl }],
          tags: [...groups].map((name) => ({ name, ...(GROUPS[name] && { description: GROUPS[name] }) })),
        }),
      );
      return document;
    },
  };
}

/**
 * The methods of each path without parameters. If `/v1/receipt/free` takes only POST, a GET of it is refused, although
 * `GET /v1/receipt/{id}` would match.
 */
type Literals = Map<string, Set<string>>;

function mount(app: OpenAPIHono<AppEnv>, frame: Frame, literals: Literals, endpoint: Endpoint): void {
  app.openAPIRegistry.registerPath(endpoint.openapi(dialectAt(frame.dialects, endpoint.path)));
  const place = { method: endpoint.method.toUpperCase(), route: endpoint.path, errors: endpoint.errors };
  const template = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const path = endpoint.rest ? `${template}{.+}` : template;
  const literal = path === endpoint.path;
  if (literal) literals.set(path, (literals.get(path) ?? new Set()).add(place.method));
  const handle = exchangeHandler(frame, place, (exchange) => endpoint.handle(exchange, frame));
  const refuse = exchangeHandler(frame, NOWHERE, (exchange) => {
    throw notAllowed(methodsAt(app, literals, exchange.c), exchange);
  });
  // Another endpoint may have the same path with another method.
  app.on(place.method, path, (c) =>
    literals.get(c.req.path)?.has(place.method) === false ? refuse(c) : handle(c),
  );
}

/** Metric labels of requests that no endpoint answers. */
const NOWHERE = { method: '(any)', route: '(none)' };

function answerTheRest(
  app: OpenAPIHono<AppEnv>,
  frame: Frame,
  literals: Literals,
  notFoundPage: ApiOptions['notFoundPage'],
): void {
  const preflightAt = { method: 'OPTIONS', route: '(preflight)' };
  app.options(
    '*',
    exchangeHandler(frame, preflightAt, ({ c }) => {
      const allowed = methodsAt(app, literals, c);
      if (allowed.length === 0) throw nothingHere(c);
      return preflight(allowed, header(c, 'access-control-request-headers'));
    }),
  );
  app.notFound(
    exchangeHandler(frame, NOWHERE, (exchange) => {
      const allowed = methodsAt(app, literals, exchange.c);
      if (allowed.length > 0) throw notAllowed(allowed, exchange);
      if (notFoundPage !== undefined && isBrowser(exchange.c)) return notFoundPage();
      throw nothingHere(exchange.c);
    }),
  );
  app.onError((error, c) =>
    exchangeHandler(frame, NOWHERE, () => {
      throw error;
    })(c),
  );
}

/** Whether the client asks for a page by name, as browsers do of an address that is opened, and other programs do not. */
function isBrowser(c: AppContext): boolean {
  return c.req.method === 'GET' && /(?:^|,)\s*text\/html\b/i.test(header(c, 'accept') ?? '');
}

/** The methods that the path supports, for `Allow` (RFC 9110, section 10.2.1). */
function methodsAt(app: OpenAPIHono<AppEnv>, literals: Literals, c: AppContext): string[] {
  const known = literals.get(c.req.path);
  if (known !== undefined) return allowedOf(known);
  const methods = METHODS.filter((method) => {
    const [handlers] = app.router.match(method, c.req.path);
    return handlers.some(([[, route]]) => route.method === method);
  });
  return allowedOf(new Set(methods));
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The methods for `Allow`, with HEAD and OPTIONS where they follow from the others; empty where there is no method. */
function allowedOf(methods: ReadonlySet<string>): string[] {
  if (methods.size === 0) return [];
  const inOrder = METHODS.filter((method) => methods.has(method));
  return [...inOrder, ...(methods.has('GET') ? ['HEAD'] : []), 'OPTIONS'];
}

/** Sets `Allow`. */
function notAllowed(allowed: readonly string[], { c, headers }: Exchange): TallyError {
  headers['allow'] = allowed.join(', ');
  return new TallyError(
    'method_not_allowed',
    `${c.req.path} supports ${allowed.join(', ')}, not ${c.req.method}.`,
  );
}

function nothingHere(c: AppContext): TallyError {
  return new TallyError('not_found', `There is nothing at ${c.req.path}. /docs lists what there is.`);
}
