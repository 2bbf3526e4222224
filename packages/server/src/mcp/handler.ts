import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isObject, type JsonValue, TallyError } from '@tallystick/core';
import { Refusal } from '@tallystick/kit';
import type { Answer } from '../http/answer.ts';
import { header } from '../http/context.ts';
import { clientSignal } from '../http/disconnect.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import type { Services } from '../services.ts';
import { prepareTools } from './prepare.ts';
import type { Carrier } from './run.ts';
import { createMcpServer } from './server.ts';
import { storedNotes } from './session-notes.ts';
import { type RunningCall, Sessions } from './sessions.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'logger' | 'metrics' | 'clients' | 'store'>;

/** The Model Context Protocol over streamable HTTP, with sessions up to 2025-11-25 and stateless from 2026-07-28 on. */
export interface Mcp {
  /**
   * Answers a message.
   * @throws invalid_request for a batch, a message without a session, or one of a session that is not open
   */
  post(exchange: Exchange, message: JsonValue, rawBody: Uint8Array): Promise<Answer>;
  /** Ends the request's session. Throws as `post` does. */
  end(exchange: Exchange): Promise<Answer>;
}

export interface McpDependencies {
  readonly services: Needs;
  readonly document: OpenApiDocument;
  /** The endpoints from which tools and resources are made. */
  readonly endpoints: readonly Endpoint[];
  /** Adds to each MCP server, for tests of the protocol. */
  readonly extend: ((server: McpServer) => void) | undefined;
}

export function createMcp({ services, document, endpoints, extend }: McpDependencies): Mcp {
  const { clients, clock, logger, store } = services;
  const endpointAt = (path: string): Endpoint => {
    const found = endpoints.find((one) => one.method === 'get' && one.path === path);
    if (found === undefined) throw new Error(`There is no endpoint at ${path}.`);
    return found;
  };
  const carriers = new WeakMap<Request, Carrier>();
  const dependencies = {
    services,
    tools: prepareTools(document, endpoints),
    receipt: endpointAt('/v1/receipt/{id}'),
    trust: endpointAt('/.well-known/trust.json'),
    carrierOf: ({ http }: ServerContext): Carrier => {
      const carrier = http?.req && carriers.get(http.req);
      if (carrier === undefined) throw new Error('A message arrived outside of a request.');
      return carrier;
    },
    during: <T>(call: RunningCall, work: () => Promise<T>): Promise<T> => sessions.during(call, work),
  };
  const connect = (): McpServer => {
    const server = createMcpServer(dependencies);
    extend?.(server);
    return server;
  };
  const sessions = new Sessions(connect, clock, storedNotes(store, clock));
  const stateless = createMcpHandler(connect, {
    legacy: 'reject',
    // None of the lists changes while the service runs.
    maxSubscriptions: 0,
    onerror: (error) => logger.debug({ err: error }, 'MCP'),
  });

  const carry = (exchange: Exchange, rawBody: Uint8Array): Request => {
    const { c } = exchange;
    const left = clientSignal(c);
    const { method, headers } = c.req.raw;
    const request = new Request(c.req.url, { method, headers, signal: left });
    carriers.set(request, { exchange, rawBody, left });
    return request;
  };
  const begin = async (exchange: Exchange, request: Request, message: JsonValue): Promise<Response> => {
    if (!isInitializeRequest(message)) throw withoutSession();
    const response = await sessions.begin(request, message, clients.group(exchange.incoming));
    return response ?? full();
  };
  return {
    async post(exchange, message, rawBody) {
      if (!isObject(message)) throw batch();
      const request = carry(exchange, rawBody);
      if (!(await isLegacyRequest(request, message))) {
        return toAnswer(await stateless.fetch(request, { parsedBody: message }));
      }
      const id = header(exchange.c, 'mcp-session-id');
      if (id !== undefined)
        return toAnswer(
          (await sessions.serve(id, request, message, clients.group(exchange.incoming))) ?? notOpen(),
        );
      if (rawBody.byteLength > MAX_FIRST_BYTES) throw tooLarge();
      return toAnswer(await begin(exchange, request, message));
    },
    async end(exchange) {
      const id = header(exchange.c, 'mcp-session-id');
      if (id === undefined) throw withoutSession();
      const served = sessions.serve(
        id,
        carry(exchange, NO_BYTES),
        undefined,
        clients.group(exchange.incoming),
      );
      return toAnswer((await served) ?? notOpen());
    },
  };
}

const NO_BYTES = new Uint8Array();
/** Most bytes of the message that begins a session, since the session keeps it. */
const MAX_FIRST_BYTES = 65_536;

function tooLarge(): TallyError {
  return new TallyError('body_too_large', `initialize may have at most ${MAX_FIRST_BYTES} bytes.`);
}

function batch(): TallyError {
  return new TallyError(
    'invalid_request',
    'A request must carry one JSON-RPC message, an object. Send each message separately.',
  );
}

function withoutSession(): TallyError {
  return new TallyError(
    'invalid_request',
    'Send initialize first, and Mcp-Session-Id with the requests that follow; or use revision 2026-07-28, which has no sessions.',
    { field: 'Mcp-Session-Id' },
  );
}

/** The answer that makes a client begin a new session (2025-11-25, Transports, Session Management). */
function notOpen(): Response {
  const message = 'The session is no longer open. Send initialize to begin a new one.';
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_001, message } }, { status: 404 });
}

function full(): never {
  throw new Refusal(
    'unavailable',
    'All sessions of this service are busy. Try again in 10 s, or use revision 2026-07-28.',
    { retryAfter: 10 },
  );
}

const PASSED = ['mcp-session-id', 'cache-control', 'x-accel-buffering', 'allow'];

async function toAnswer({ status, headers, body }: Response): Promise<Answer> {
  const contentType = headers.get('content-type');
  const json = contentType?.startsWith('application/json') === true;
  const passed = PASSED.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    status,
    contentType,
    // In one piece, so that it is sent without a stream.
    body: json ? await new Response(body).text() : body,
    headers: Object.fromEntries(passed),
  };
}
