import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { TallyError, VERSION } from '@tallystick/core';
import type { Endpoint } from '../http/endpoint.ts';
import { isFault, toProblem } from '../http/problem.ts';
import type { Services } from '../services.ts';
import type { Tool } from './prepare.ts';
import { answerOf, bodyText, type Carrier, runTool } from './run.ts';
import type { Sessions } from './sessions.ts';

type Needs = Pick<Services, 'config' | 'logger' | 'metrics'>;

const INFO = {
  name: 'tallystick',
  title: 'Tallystick',
  version: VERSION,
  description: 'Signed receipts for AI calls and machine work that anyone can check, offline, years later.',
};

const INSTRUCTIONS =
  'Mint, verify and anchor signed receipts, and call models that are routed, billed and receipted. An error’s text is a problem document: branch on its `code`, and do what its `detail` says. Pass an idempotency_key wherever a call may be repeated. Read a receipt at receipt://{id}, and the trusted keys at trust://bundle.';

/** For lists that change only with a release. */
const HOUR = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

export interface McpServerDependencies {
  readonly services: Needs;
  readonly tools: readonly Tool[];
  /** `GET /v1/receipt/{id}` */
  readonly receipt: Endpoint;
  /** `GET /.well-known/trust.json` */
  readonly trust: Endpoint;
  /** The HTTP request that a call came in. */
  readonly carrierOf: (context: ServerContext) => Carrier;
  /** Keeps the session of a call open until it is done. */
  readonly during: Sessions['during'];
}

/** An MCP server over the endpoints of the HTTP interface: one per session, or per stateless request. */
export function createMcpServer({
  services,
  tools,
  receipt,
  trust,
  carrierOf,
  during,
}: McpServerDependencies): McpServer {
  const server = new McpServer(
    { ...INFO, websiteUrl: services.config.siteUrl },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      cacheHints: {
        'tools/list': HOUR,
        'resources/list': HOUR,
        'resources/templates/list': HOUR,
        'server/discover': HOUR,
      },
    },
  );
  for (const tool of tools) {
    const { name, title, description, annotations } = tool.definition;
    const { inputSchema, outputSchema } = tool;
    server.registerTool(
      name,
      { title, description, annotations, inputSchema, outputSchema },
      (given, context) => {
        const { id, signal: cancelled } = context.mcpReq;
        return during({ sessionId: context.sessionId, id, cancelled }, () =>
          runTool(services, tool, { given, carrier: carrierOf(context), cancelled }),
        );
      },
    );
  }
  const read = (endpoint: Endpoint, params: Record<string, string>, uri: URL, context: ServerContext) =>
    readResource(services, uri, carrierOf(context), { endpoint, params });
  const json = { mimeType: 'application/json' };
  server.registerResource(
    'receipt',
    new ResourceTemplate('receipt://{id}', { list: undefined }),
    {
      ...json,
      title: 'A receipt',
      description: 'The receipt, byte for byte, for as long as its profile is kept.',
    },
    (uri, { id }, context) => read(receipt, { id: String(id) }, uri, context),
  );
  server.registerResource(
    'trust-bundle',
    'trust://bundle',
    {
      ...json,
      title: 'The trust bundle',
      description: 'Issuers, their keys and the periods in which the keys are valid, signed by the root.',
    },
    (uri, context) => read(trust, {}, uri, context),
  );
  return server;
}

async function readResource(
  { config, logger }: Needs,
  uri: URL,
  carrier: Carrier,
  { endpoint, params }: { readonly endpoint: Endpoint; readonly params: Record<string, string> },
): Promise<ReadResourceResult> {
  const { requestId } = carrier.exchange;
  try {
    const answer = await answerOf(endpoint, { params, query: {}, body: null }, carrier, carrier.exchange);
    return { contents: [{ uri: uri.href, mimeType: 'application/json', text: bodyText(answer) }] };
  } catch (thrown) {
    if (thrown instanceof TallyError && thrown.code === 'receipt_not_found') {
      throw new ResourceNotFoundError(uri.href);
    }
    if (isFault(thrown)) {
      logger.error({ method: 'MCP', route: 'resources/read', requestId, err: thrown }, 'read failed');
    }
    const problem = toProblem(thrown, { receiptsUrl: config.receiptsUrl, requestId });
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${problem.code}: ${problem.detail}`, problem);
  }
}
