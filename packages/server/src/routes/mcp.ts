import { z } from '@hono/zod-openapi';
import type { McpServer } from '@modelcontextprotocol/server';
import { type JsonObject, TallyError } from '@tallystick/core';
import type { Api } from '../http/api.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { createGuard } from '../mcp/guard.ts';
import type { Mcp } from '../mcp/handler.ts';
import { jsonRpcRefusal } from '../mcp/json-rpc.ts';
import { TOOLS } from '../mcp/tools.ts';
import type { Services } from '../services.ts';

type Needs = Pick<Services, 'config' | 'clock' | 'logger' | 'metrics' | 'clients' | 'store'>;

const PATH = '/mcp';
const GROUP = 'Model Context Protocol';

interface McpRoutes {
  /** The API whose endpoints are the tools, without these routes. */
  readonly api: Pick<Api, 'document'>;
  readonly endpoints: readonly Endpoint[];
  /** Adds to each MCP server, for tests of the protocol. */
  readonly extend: ((server: McpServer) => void) | undefined;
}

const message = z
  .looseObject({
    jsonrpc: z.literal('2.0').openapi({ description: 'Always this.' }),
    method: z.string().optional().openapi({ description: 'The method of a request or notification.' }),
    id: z
      .union([z.string(), z.int(), z.null()])
      .optional()
      .openapi({ description: 'The id of a request, which its response repeats.' }),
    params: z.looseObject({}).optional().openapi({ description: 'The parameters of the method.' }),
    result: z.looseObject({}).optional().openapi({ description: 'The result, in a response.' }),
    error: z.looseObject({}).optional().openapi({ description: 'What went wrong, in a response.' }),
  })
  .openapi('JsonRpcMessage', { description: 'One message of JSON-RPC 2.0; batches are refused.' });

/** The Model Context Protocol (specification 4.3): the other routes as tools. */
export function mcpRoutes(services: Needs, { api, endpoints, extend }: McpRoutes): Endpoint[] {
  const { config } = services;
  const guard = createGuard(config);
  let made: Promise<Mcp> | undefined;
  // The MCP SDK takes time to start and 30 MB, so it is loaded with the first call.
  const mcp = (): Promise<Mcp> => {
    made ??= import('../mcp/handler.ts').then(({ createMcp }) =>
      createMcp({ services, document: api.document(), endpoints, extend }),
    );
    return made;
  };
  /** Makes an endpoint refuse in the protocol's own form. */
  const inJsonRpc = (one: Endpoint): Endpoint => ({
    ...one,
    openapi(dialect) {
      const route = one.openapi(dialect);
      return { ...route, responses: withRefusals(route.responses) };
    },
    handle: async (exchange, frame) => {
      try {
        guard(exchange.c);
        return await one.handle(exchange, frame);
      } catch (error) {
        if (!(error instanceof TallyError)) throw error;
        const restated = error.code.endsWith('_field')
          ? new TallyError('invalid_request', error.message)
          : error;
        return jsonRpcRefusal(restated, { receiptsUrl: config.receiptsUrl, requestId: exchange.requestId });
      }
    },
  });
  return [post(mcp, config.compute.maxBodyBytes), end(mcp)].map(inJsonRpc);
}

const HEADERS = {
  Authorization: 'Optional: `Bearer` and an API key, used as by the route behind each tool.',
  'X-Agent-DID': 'The DID of the calling agent; a message signature (RFC 9421) can prove it.',
  'Mcp-Session-Id': 'The id of the session that `initialize` began; needed up to revision 2025-11-25.',
  'Mcp-Protocol-Version': 'The revision: `2026-07-28` needs no session.',
};

const refusal = z
  .object({
    jsonrpc: z.literal('2.0').openapi({ description: 'Always this.' }),
    id: z
      .union([z.string(), z.int(), z.null()])
      .openapi({ description: 'The id of the request; null where none was read.' }),
    error: z
      .object({
        code: z.int().openapi({ description: 'The code of JSON-RPC.' }),
        message: z.string().openapi({ description: 'What is wrong.' }),
        data: z.looseObject({}).optional().openapi({
          description: 'The problem document, or with -32022 the revisions that are `supported`.',
        }),
      })
      .openapi({ description: 'Why it was refused.' }),
  })
  .openapi('JsonRpcRefusal', {
    description: 'The request was refused before any method ran (JSON-RPC 2.0).',
  });

type Responses = ReturnType<Endpoint['openapi']>['responses'];

/** The responses with refusals in the protocol's form; faults of the service remain problem documents. */
function withRefusals(responses: Responses): Responses {
  const content = { 'application/json': { schema: refusal } };
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      Number(status) < 400 || status === '500' ? response : { ...response, content },
    ]),
  );
}

const EXAMPLE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'example', version: '1.0.0' },
  },
};

const NOT_OPEN = { description: 'The session of `Mcp-Session-Id` is not open, or no longer open' };

function post(mcp: () => Promise<Mcp>, maxBodyBytes: number): Endpoint {
  return endpoint({
    method: 'post',
    path: PATH,
    operationId: 'callMcp',
    credentials: ['none', 'apiKey', 'apiKeyHeader', 'tenantKey', 'messageSignature'],
    group: GROUP,
    summary: 'Call the tools of the Model Context Protocol',
    description: `Streamable HTTP: stateless in revision 2026-07-28, and with sessions in the revisions up to 2025-11-25. Tools: ${TOOLS.map(({ name }) => name).join(', ')}. There is no GET stream: the service sends no messages of its own accord.`,
    availability: 'live',
    headers: HEADERS,
    body: message,
    example: EXAMPLE,
    maxBodyBytes,
    answers: {
      200: {
        description: 'The JSON-RPC response, also as server-sent events',
        schema: message,
        otherwise: {
          'text/event-stream': z.string().openapi({ description: 'Each `data:` is a JSON-RPC message.' }),
        },
        headers: { 'Mcp-Session-Id': 'With the answer to `initialize`: the new session.' },
      },
      202: { description: 'The notification was accepted' },
      404: NOT_OPEN,
      406: { description: '`Accept` lacks application/json or text/event-stream' },
    },
    errors: ['origin_not_allowed', 'invalid_request', 'unavailable'],
    handle: async (call) => (await mcp()).post(call, call.body as JsonObject, call.rawBody),
  });
}

function end(mcp: () => Promise<Mcp>): Endpoint {
  return endpoint({
    method: 'delete',
    path: PATH,
    operationId: 'endMcpSession',
    group: GROUP,
    summary: 'End a session of the Model Context Protocol',
    availability: 'live',
    headers: { 'Mcp-Session-Id': 'The session to end.' },
    answers: { 200: { description: 'The session has ended' }, 404: NOT_OPEN },
    errors: ['origin_not_allowed', 'invalid_request'],
    handle: async (call) => (await mcp()).end(call),
  });
}
